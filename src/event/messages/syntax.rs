//! How a message marks the places of values.

/// How a message marks the places of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Syntax {
    /// Each `$name` of its first line is an argument.
    #[default]
    Template,
    /// A format of printf: each `%` takes a value of the payload.
    Printf,
}
