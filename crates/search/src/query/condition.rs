//! The parts of an expression.

use regex::Regex;

/// A part of an expression that is true or false.
#[derive(Debug, Clone)]
pub enum Condition {
    /// All of them.
    All(Vec<Condition>),
    /// At least one of them.
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Compare(Operand, Comparison, Operand),
    /// Whether a regular expression matches, or else whether it does not.
    Match(Operand, Regex, bool),
    /// Whether it is there, and neither false, nor 0, nor empty.
    Holds(Operand),
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    Field(String),
    Literal(Literal),
}

/// A value in an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Integer(i128),
    Float(f64),
    /// A text, and the time it is, if it is one.
    Text(String, Option<u64>),
    Bool(bool),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Condition {
    /// All fields that it names.
    pub fn fields<'a>(&'a self, out: &mut Vec<&'a str>) {
        let mut operand = |operand: &'a Operand| {
            if let Operand::Field(name) = operand {
                out.push(name);
            }
        };
        match self {
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().for_each(|part| part.fields(out));
            }
            Condition::Not(part) => part.fields(out),
            Condition::Compare(left, _, right) => {
                operand(left);
                operand(right);
            }
            Condition::Match(left, ..) | Condition::Holds(left) => operand(left),
        }
    }
}
