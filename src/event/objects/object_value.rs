//! What the values of imported objects are in JSON.

use crate::event::values::field_table::FieldType;

/// What a value is in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ObjectValue {
    /// A signed integer.
    Int,
    /// An unsigned one.
    Uint,
    /// A number with a fraction or an exponent.
    Float,
    /// `true` or `false`; an integer in the event.
    Bool,
    /// A text.
    Text,
    /// JSON of any type; a text in the event.
    Json,
}

impl ObjectValue {
    pub(super) const ALL: [(ObjectValue, &'static str); 6] = [
        (ObjectValue::Int, "i64"),
        (ObjectValue::Uint, "u64"),
        (ObjectValue::Float, "f64"),
        (ObjectValue::Bool, "bool"),
        (ObjectValue::Text, "str"),
        (ObjectValue::Json, "json"),
    ];

    /// Its name in a format.
    pub fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find_map(|(value, name)| (*value == self).then_some(*name))
            .unwrap_or("")
    }

    pub(super) fn field(self) -> FieldType<'static> {
        match self {
            ObjectValue::Int => FieldType::I64,
            ObjectValue::Uint => FieldType::U64,
            ObjectValue::Float => FieldType::F64,
            ObjectValue::Bool => FieldType::Bool,
            ObjectValue::Text | ObjectValue::Json => FieldType::Str,
        }
    }
}
