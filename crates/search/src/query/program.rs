//! The conditions on values, as programs over the columns of a block.
//!
//! A program is made once for all events of a definition that have their values in the same form.
//! Conditions on one number become bounds, or their answers are kept by the number. All others read
//! the values of an event from the columns, and ask as if it had been made.

use std::collections::HashMap;

use timeline::internal::ValueKind;
use timeline::{EventId, Layout, Value};
use timeline_archive::{BlockColumns, ShapeValues, ValueColumn};

use super::bounds::{Bounds, NumericDomain};
use super::condition::{Literal, Operand, Operator, QueryCondition};
use super::fields::QueryFields;

/// How many answers are kept of a condition on a number. A power of two.
const KEPT: usize = 256;

/// The highest bit of a word.
const TOP: u64 = 1 << 63;

/// What the conditions of a query are on the columns of events.
pub struct CompiledQuery<'a> {
    pub(super) parts: Vec<Test<'a>>,
    cells: Cells,
    /// The positions of the columns that it reads.
    pub positions: Vec<usize>,
}

/// Most forms of the values of a definition for which there are programs. Writers have one or two.
pub const MOST_FORMS: usize = 16;

/// The programs of definitions, by the form in which events have their values. `None` where only
/// the events tell.
#[derive(Default)]
pub struct CompiledQueries<'a>(HashMap<EventId, Vec<(ShapeValues, Option<CompiledQuery<'a>>)>>);

impl<'a> CompiledQueries<'a> {
    /// The program of a definition for values in this form. `None` if only the events tell.
    pub fn get(&mut self, id: EventId, values: &ShapeValues) -> Option<&mut CompiledQuery<'a>> {
        let of_definition = self.0.get_mut(&id)?.iter_mut();
        let mut of_form = of_definition.filter(|(form, _)| form == values);
        of_form.next()?.1.as_mut()
    }

    /// Whether it is known what the program is, or there are too many others.
    pub fn has(&self, id: EventId, values: &ShapeValues) -> bool {
        let known = self.0.get(&id).map_or(&[][..], Vec::as_slice);
        known.len() >= MOST_FORMS || known.iter().any(|(form, _)| form == values)
    }

    /// Keeps the program of a definition.
    pub fn keep(&mut self, id: EventId, values: &ShapeValues, program: Option<CompiledQuery<'a>>) {
        self.0
            .entry(id)
            .or_default()
            .push((values.clone(), program));
    }
}

/// A condition on columns.
pub(super) enum Test<'a> {
    All(Vec<Test<'a>>),
    Any(Vec<Test<'a>>),
    Not(Box<Test<'a>>),
    Constant(bool),
    /// On the number at a position.
    Number(usize, ColumnCell, Option<Bounds>, ConditionCache<'a>),
    /// On the numbers at two positions, which are whole in most events.
    Pair([(usize, NumericDomain); 2], Operator, Box<Test<'a>>),
    /// On the values at these positions.
    Values(Vec<(usize, ColumnCell)>, &'a QueryCondition),
}

/// Where events have a value.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ColumnCell {
    /// They have none.
    Nowhere,
    /// In a column, as this kind.
    Column(ValueKind),
    /// In a column, as a word that the layout of the definition explains.
    Word,
    /// Likewise a word, which is 0.
    Zero,
}

/// The values of the fields that conditions name, by position.
struct Cells(Vec<ColumnCell>);

/// A condition on a number, with some of its answers by the number.
pub(super) struct ConditionCache<'a> {
    condition: &'a QueryCondition,
    answers: Vec<Option<(u64, bool)>>,
}

impl Cells {
    /// Those of events with values in this form. `None` if only the events tell.
    fn of(fields: &QueryFields, values: &ShapeValues, has_words: bool) -> Option<Cells> {
        let cell = |position: usize| match values {
            ShapeValues::Kinds(kinds) => kinds
                .get(position)
                .map_or(ColumnCell::Nowhere, |kind| ColumnCell::Column(*kind)),
            ShapeValues::Words(count) => {
                // A number that takes all bits of its word is what a column of its kind has.
                match [0, TOP].map(|raw| word(&fields.layout, position, raw)) {
                    [None, _] => ColumnCell::Nowhere,
                    _ if position >= *count => ColumnCell::Zero,
                    [_, Some(Value::Int(i64::MIN))] => ColumnCell::Column(ValueKind::Int),
                    [_, Some(Value::Uint(TOP))] => ColumnCell::Column(ValueKind::Uint),
                    _ => ColumnCell::Word,
                }
            }
            ShapeValues::Payload => ColumnCell::Nowhere,
        };
        match values {
            ShapeValues::Payload => return None,
            ShapeValues::Words(_) if !has_words => return None,
            _ => {}
        }
        let positions = fields.found.iter().map(|found| found.position);
        let there = positions.filter(|position| cell(*position) != ColumnCell::Nowhere);
        let count = there.max().map_or(0, |last| last + 1);
        Some(Cells((0..count).map(cell).collect()))
    }

    fn get(&self, position: usize) -> ColumnCell {
        self.0.get(position).copied().unwrap_or(ColumnCell::Nowhere)
    }

    /// As many values as a condition may ask for, which are not there: as if they were `NULL`.
    fn values<'v>(&self) -> Vec<Value<'v>> {
        vec![Value::Nil; self.0.len()]
    }
}

/// The value at a position of an event whose words are all 0 but for the one at that position,
/// which is that value's own: in a template each value has one.
fn word(layout: &Layout, position: usize, raw: u64) -> Option<Value<'static>> {
    let mut words = [0; 4];
    *words.get_mut(position)? = raw as i64;
    Some(match layout.values_of_words(&words).nth(position)? {
        Value::Int(value) => Value::Int(value),
        Value::Uint(value) => Value::Uint(value),
        Value::Float(value) => Value::Float(value),
        Value::LongDouble(bytes) => Value::LongDouble(bytes),
        // There are no bytes behind words.
        Value::Text { cut, .. } => Value::Text { bytes: &[], cut },
        Value::Nil | Value::Addresses(_) => Value::Nil,
    })
}

impl<'a> CompiledQuery<'a> {
    /// The conditions on events that have these fields, and their values in this form. `None` if
    /// only the events tell. `has_words`: whether each value is one word of those.
    pub fn new(
        conditions: impl Iterator<Item = &'a QueryCondition>,
        fields: &QueryFields,
        values: &ShapeValues,
        has_words: bool,
    ) -> Option<CompiledQuery<'a>> {
        let mut program = CompiledQuery {
            parts: Vec::new(),
            cells: Cells::of(fields, values, has_words)?,
            positions: Vec::new(),
        };
        for condition in conditions {
            let part = program.test(fields, condition);
            program.parts.push(part);
        }
        program.positions.sort_unstable();
        program.positions.dedup();
        Some(program)
    }

    fn test(&mut self, fields: &QueryFields, condition: &'a QueryCondition) -> Test<'a> {
        let mut tests = |parts: &'a [QueryCondition]| -> Vec<Test<'a>> {
            parts.iter().map(|part| self.test(fields, part)).collect()
        };
        match condition {
            QueryCondition::All(parts) => Test::All(tests(parts)),
            QueryCondition::Any(parts) => Test::Any(tests(parts)),
            QueryCondition::Not(part) => Test::Not(Box::new(self.test(fields, part))),
            QueryCondition::Compare(..) | QueryCondition::Match(..) | QueryCondition::Holds(_) => {
                self.of_values(fields, condition)
            }
        }
    }

    /// A condition that has no parts.
    fn of_values(&mut self, fields: &QueryFields, condition: &'a QueryCondition) -> Test<'a> {
        let mut names = Vec::new();
        condition.fields(&mut names);
        let found = fields.found.iter();
        let named = found.filter(|found| names.contains(&found.name));
        let mut cells: Vec<_> = named
            .map(|found| (found.position, self.cells.get(found.position)))
            .filter(|(_, cell)| *cell != ColumnCell::Nowhere)
            .collect();
        cells.sort_unstable_by_key(|(position, _)| *position);
        cells.dedup();
        let is_read = |(_, cell): &&(usize, ColumnCell)| *cell != ColumnCell::Zero;
        let read = cells.iter().filter(is_read);
        self.positions.extend(read.map(|(position, _)| *position));
        match cells[..] {
            [(position, cell)] if cell.is_number() => {
                let mut kept = ConditionCache {
                    condition,
                    answers: Vec::new(),
                };
                if cell == ColumnCell::Zero {
                    return Test::Constant(kept.ask(fields, &self.cells, (position, cell), 0));
                }
                self.number(fields, (position, cell), kept)
            }
            [] => Test::Constant(fields.holds(condition, &self.cells.values())),
            _ => self.pair(fields, Test::Values(cells, condition)),
        }
    }

    /// A comparison of two whole numbers, if the test is one.
    fn pair(&self, fields: &QueryFields, test: Test<'a>) -> Test<'a> {
        let Test::Values(_, QueryCondition::Compare(left, how, right)) = test else {
            return test;
        };
        let number = |side: &Operand| {
            let Operand::Field(name) = side else {
                return None;
            };
            let found = fields.found.iter().find(|found| found.name == name)?;
            let ColumnCell::Column(kind) = self.cells.get(found.position) else {
                return None;
            };
            let numbers = NumericDomain::of(found.kind, kind)?;
            numbers.are_whole().then_some((found.position, numbers))
        };
        match (number(left), number(right)) {
            (Some(left), Some(right)) => Test::Pair([left, right], *how, Box::new(test)),
            _ => test,
        }
    }

    /// A condition on one number.
    fn number(
        &self,
        fields: &QueryFields,
        of: (usize, ColumnCell),
        kept: ConditionCache<'a>,
    ) -> Test<'a> {
        let (position, cell) = of;
        let kind = match cell {
            ColumnCell::Column(kind) => kind,
            _ => ValueKind::Int,
        };
        let fields_there = fields.found.iter();
        let mut fields_there = fields_there.filter(|found| found.position == position);
        let field = fields_there.next().and_then(|found| found.kind);
        let is_one = fields_there.all(|found| found.kind == field);
        let numbers = NumericDomain::of(field, kind).filter(|_| is_one);
        let Some((numbers, sides)) = numbers.zip(sides(kept.condition)) else {
            return Test::Number(position, cell, None, kept);
        };
        let (left, how, right) = sides;
        if how.is_none() && !numbers.are_whole() {
            return Test::Number(position, cell, None, kept);
        }
        let ask = |how: Operator| {
            let condition = QueryCondition::Compare(left.clone(), how, right.clone());
            move |raw: u64| {
                let mut values = self.cells.values();
                values[position] = value(fields, of, raw, None).unwrap_or(Value::Nil);
                fields.holds(&condition, &values)
            }
        };
        let how = how.unwrap_or(Operator::Unequal);
        let bounds = match how {
            Operator::Equal | Operator::Unequal => Bounds::new(
                numbers,
                ask(Operator::AtLeast),
                ask(Operator::AtMost),
                how == Operator::Unequal,
            ),
            how => Bounds::new(numbers, ask(how), |_| true, false),
        };
        Test::Number(
            position,
            cell,
            Some(bounds.unwrap_or(Bounds::none(numbers))),
            kept,
        )
    }

    /// Which of these rows of a shape, in order, meet all conditions. The columns of
    /// [`CompiledQuery::positions`] are read.
    pub fn accepted(
        &mut self,
        fields: &QueryFields,
        (columns, shape): (&BlockColumns<'_>, usize),
        mut rows: Vec<u16>,
    ) -> Vec<u16> {
        let on = On {
            fields,
            cells: &self.cells,
            columns,
            shape,
        };
        for part in &mut self.parts {
            rows = on.accepted(part, rows);
        }
        rows
    }
}

/// The sides of a comparison of a field with a literal. A field by itself is compared with 0.
#[allow(clippy::type_complexity, reason = "a comparison in its parts")]
fn sides(condition: &QueryCondition) -> Option<(Operand, Option<Operator>, Operand)> {
    match condition {
        QueryCondition::Compare(left, how, right) => {
            let is_literal = |operand: &Operand| matches!(operand, Operand::Literal(_));
            let is_one = is_literal(left) != is_literal(right);
            is_one.then(|| (left.clone(), Some(*how), right.clone()))
        }
        QueryCondition::Holds(field) => {
            Some((field.clone(), None, Operand::Literal(Literal::Integer(0))))
        }
        _ => None,
    }
}

impl ColumnCell {
    fn is_number(self) -> bool {
        match self {
            ColumnCell::Column(kind) => !matches!(kind, ValueKind::Text | ValueKind::LongDouble),
            ColumnCell::Word | ColumnCell::Zero => true,
            ColumnCell::Nowhere => false,
        }
    }
}

/// The value in a cell that has these bits.
fn value<'v>(
    fields: &QueryFields,
    (position, cell): (usize, ColumnCell),
    raw: u64,
    column: Option<&ValueColumn<'v>>,
) -> Option<Value<'v>> {
    match cell {
        ColumnCell::Nowhere => None,
        ColumnCell::Word => word(&fields.layout, position, raw),
        ColumnCell::Zero => word(&fields.layout, position, 0),
        ColumnCell::Column(ValueKind::Int) => Some(Value::Int(raw as i64)),
        ColumnCell::Column(ValueKind::Uint) => Some(Value::Uint(raw)),
        ColumnCell::Column(ValueKind::Float) => Some(Value::Float(f64::from_bits(raw))),
        ColumnCell::Column(kind) => column?.value(kind, raw),
    }
}

impl ConditionCache<'_> {
    /// Whether the condition is met by a number with these bits.
    fn ask(
        &mut self,
        fields: &QueryFields,
        cells: &Cells,
        of: (usize, ColumnCell),
        raw: u64,
    ) -> bool {
        if self.answers.is_empty() {
            self.answers.resize(KEPT, None);
        }
        let place = raw.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - KEPT.ilog2());
        match self.answers[place as usize] {
            Some((of, answer)) if of == raw => answer,
            _ => {
                let mut values = cells.values();
                values[of.0] = value(fields, of, raw, None).unwrap_or(Value::Nil);
                let answer = fields.holds(self.condition, &values);
                self.answers[place as usize] = Some((raw, answer));
                answer
            }
        }
    }
}

/// What a program is run on.
struct On<'r, 'f> {
    fields: &'r QueryFields<'f>,
    cells: &'r Cells,
    columns: &'r BlockColumns<'r>,
    /// That of the rows.
    shape: usize,
}

impl On<'_, '_> {
    fn accepted(&self, test: &mut Test, mut rows: Vec<u16>) -> Vec<u16> {
        if rows.is_empty() {
            return rows;
        }
        match test {
            Test::All(parts) => {
                for part in parts {
                    rows = self.accepted(part, rows);
                }
                rows
            }
            Test::Any(parts) => {
                let mut accepted = Vec::new();
                for part in parts {
                    let of_part = self.accepted(part, rows.clone());
                    rows = without(&rows, &of_part);
                    accepted.extend(of_part);
                }
                accepted.sort_unstable();
                accepted
            }
            Test::Not(part) => without(&rows, &self.accepted(part, rows.clone())),
            Test::Constant(true) => rows,
            Test::Constant(false) => Vec::new(),
            Test::Number(position, cell, bounds, kept) => {
                let of = (*position, *cell);
                let column = self.columns.values(self.shape, *position);
                let raw = column.map_or(&[][..], ValueColumn::raw);
                let mut ask = |raw| kept.ask(self.fields, self.cells, of, raw);
                let Some(bounds) = bounds else {
                    rows.retain(|row| ask(raw[usize::from(*row)]));
                    return rows;
                };
                let mut accepted = Vec::new();
                bounds.filter(raw, &rows, &mut accepted, ask);
                accepted
            }
            Test::Pair(sides, how, other) => {
                let (mut accepted, others) = self.of_pair(*sides, *how, &rows);
                if !others.is_empty() {
                    accepted.extend(self.accepted(other, others));
                    accepted.sort_unstable();
                }
                accepted
            }
            Test::Values(cells, condition) => {
                let mut values = self.cells.values();
                rows.retain(|row| {
                    for (position, cell) in cells.iter() {
                        let column = self.columns.values(self.shape, *position);
                        let raw = column.map_or(0, |column| column.raw()[usize::from(*row)]);
                        let value = value(self.fields, (*position, *cell), raw, column);
                        values[*position] = value.unwrap_or(Value::Nil);
                    }
                    self.fields.holds(condition, &values)
                });
                rows
            }
        }
    }

    /// The rows whose two numbers meet a comparison, and those in which one is no whole number.
    fn of_pair(
        &self,
        sides: [(usize, NumericDomain); 2],
        how: Operator,
        rows: &[u16],
    ) -> (Vec<u16>, Vec<u16>) {
        let raw = |(position, _): (usize, NumericDomain)| {
            let column = self.columns.values(self.shape, position);
            column.map_or(&[][..], ValueColumn::raw)
        };
        let [left, right] = sides.map(raw);
        let (mut accepted, mut others) = (Vec::new(), Vec::new());
        for row in rows {
            let place = usize::from(*row);
            match (
                sides[0].1.whole(left[place]),
                sides[1].1.whole(right[place]),
            ) {
                (Some(left), Some(right)) if how.accepts(left.cmp(&right)) => accepted.push(*row),
                (Some(_), Some(_)) => {}
                _ => others.push(*row),
            }
        }
        (accepted, others)
    }
}

/// The rows that are not among the others. Both are in order.
fn without(rows: &[u16], others: &[u16]) -> Vec<u16> {
    let mut others = others.iter().peekable();
    let is_left = |row: &&u16| others.next_if(|other| other == row).is_none();
    rows.iter().filter(is_left).copied().collect()
}
