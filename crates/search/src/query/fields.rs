//! The fields of a definition that conditions name, and whether their values meet these.

use timeline::{Event, FieldType, Layout, TemplateField, Value};

use super::Query;
use super::compare::{Comparand, compare, show};
use super::condition::{Operand, QueryCondition};

/// The fields of a definition that expressions name.
pub struct QueryFields<'a> {
    pub layout: Layout,
    /// By name.
    pub found: Vec<NamedField<'a>>,
    /// How many values have to be read.
    count: usize,
}

pub struct NamedField<'a> {
    pub name: &'a str,
    pub position: usize,
    /// `None` for a value of a format of printf.
    pub kind: Option<FieldType<'a>>,
}

impl<'a> QueryFields<'a> {
    pub fn of(query: &'a Query, layout: Layout, fields: &[TemplateField<'a>]) -> QueryFields<'a> {
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
            Some(NamedField {
                name,
                position,
                kind,
            })
        };
        let found: Vec<_> = names.into_iter().filter_map(find).collect();
        let most = found.iter().map(|found| found.position.saturating_add(1));
        QueryFields {
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

    pub fn holds(&self, condition: &QueryCondition, values: &[Value]) -> bool {
        match condition {
            QueryCondition::All(parts) => parts.iter().all(|part| self.holds(part, values)),
            QueryCondition::Any(parts) => parts.iter().any(|part| self.holds(part, values)),
            QueryCondition::Not(part) => !self.holds(part, values),
            QueryCondition::Compare(left, how, right) => {
                let sides = (self.known(left, values), self.known(right, values));
                matches!(sides, (Some(left), Some(right)) if compare(&left, *how, &right))
            }
            QueryCondition::Match(operand, regex, expected) => {
                let text = self.shown(operand, values);
                text.is_some_and(|text| regex.is_match(&text) == *expected)
            }
            QueryCondition::Holds(operand) => self
                .known(operand, values)
                .is_some_and(|value| value.holds()),
        }
    }

    fn value<'v>(
        &self,
        name: &str,
        values: &'v [Value<'v>],
    ) -> Option<(&NamedField<'a>, &'v Value<'v>)> {
        let place = self.found.binary_search_by(|found| found.name.cmp(name));
        let found = &self.found[place.ok()?];
        Some((found, values.get(found.position)?))
    }

    fn known<'v>(&'v self, operand: &'v Operand, values: &'v [Value<'v>]) -> Option<Comparand<'v>> {
        match operand {
            Operand::Literal(literal) => Some(Comparand::literal(literal)),
            Operand::Field(name) => {
                let (found, value) = self.value(name, values)?;
                Comparand::of(found.kind, value)
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
