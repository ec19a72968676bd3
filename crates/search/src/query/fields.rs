//! The fields of a definition that conditions name, and whether their values meet these.

use timeline::{Event, Field, FieldType, Layout, Value};

use super::Query;
use super::compare::{Known, compare, show};
use super::condition::{Condition, Operand};

/// The fields of a definition that expressions name.
pub struct Fields<'a> {
    pub layout: Layout,
    /// By name.
    pub found: Vec<Found<'a>>,
    /// How many values have to be read.
    count: usize,
}

pub struct Found<'a> {
    pub name: &'a str,
    pub position: usize,
    /// `None` for a value of a format of printf.
    pub kind: Option<FieldType<'a>>,
}

impl<'a> Fields<'a> {
    pub fn of(query: &'a Query, layout: Layout, fields: &[Field<'a>]) -> Fields<'a> {
        let mut names = Vec::new();
        for expression in &query.expressions {
            expression.root.fields(&mut names);
        }
        names.sort_unstable();
        names.dedup();
        let find = |name: &'a str| {
            let named = fields.iter().position(|field| field.name == name);
            let position = named.or_else(|| name.parse().ok())?;
            let kind = fields.get(position).map(|field| field.kind);
            Some(Found {
                name,
                position,
                kind,
            })
        };
        let found: Vec<_> = names.into_iter().filter_map(find).collect();
        let most = found.iter().map(|found| found.position.saturating_add(1));
        Fields {
            layout,
            count: most.max().unwrap_or(0),
            found,
        }
    }

    pub fn meet(&self, query: &Query, event: &Event) -> bool {
        if query.expressions.is_empty() {
            return true;
        }
        let values: Vec<Value> = event.values(&self.layout).take(self.count).collect();
        let mut conditions = query.expressions.iter();
        conditions.all(|expression| self.holds(&expression.root, &values))
    }

    pub fn holds(&self, condition: &Condition, values: &[Value]) -> bool {
        match condition {
            Condition::All(parts) => parts.iter().all(|part| self.holds(part, values)),
            Condition::Any(parts) => parts.iter().any(|part| self.holds(part, values)),
            Condition::Not(part) => !self.holds(part, values),
            Condition::Compare(left, how, right) => {
                let sides = (self.known(left, values), self.known(right, values));
                matches!(sides, (Some(left), Some(right)) if compare(&left, *how, &right))
            }
            Condition::Match(operand, regex, expected) => {
                let text = self.shown(operand, values);
                text.is_some_and(|text| regex.is_match(&text) == *expected)
            }
            Condition::Holds(operand) => self
                .known(operand, values)
                .is_some_and(|value| value.holds()),
        }
    }

    fn value<'v>(
        &self,
        name: &str,
        values: &'v [Value<'v>],
    ) -> Option<(&Found<'a>, &'v Value<'v>)> {
        let place = self.found.binary_search_by(|found| found.name.cmp(name));
        let found = &self.found[place.ok()?];
        Some((found, values.get(found.position)?))
    }

    fn known<'v>(&'v self, operand: &'v Operand, values: &'v [Value<'v>]) -> Option<Known<'v>> {
        match operand {
            Operand::Literal(literal) => Some(Known::literal(literal)),
            Operand::Field(name) => {
                let (found, value) = self.value(name, values)?;
                Known::of(found.kind, value)
            }
        }
    }

    /// A value as it is shown in a message.
    fn shown(&self, operand: &Operand, values: &[Value]) -> Option<String> {
        let Operand::Field(name) = operand else {
            return None;
        };
        let (found, value) = self.value(name, values)?;
        let mut text = String::new();
        if *value == Value::Nil {
            return None;
        }
        show(found.kind, value, &mut text);
        Some(text)
    }
}
