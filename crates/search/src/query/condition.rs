//! The parts of an expression.

use regex::Regex;

/// A part of an expression that is true or false.
#[derive(Debug, Clone)]
pub enum QueryCondition {
    /// All of them.
    All(Vec<QueryCondition>),
    /// At least one of them.
    Any(Vec<QueryCondition>),
    Not(Box<QueryCondition>),
    Compare(Operand, Operator, Operand),
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
pub enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl QueryCondition {
    /// All fields that it names.
    pub fn fields<'a>(&'a self, out: &mut Vec<&'a str>) {
        let mut operand = |operand: &'a Operand| {
            if let Operand::Field(name) = operand {
                out.push(name);
            }
        };
        match self {
            QueryCondition::All(parts) | QueryCondition::Any(parts) => {
                parts.iter().for_each(|part| part.fields(out));
            }
            QueryCondition::Not(part) => part.fields(out),
            QueryCondition::Compare(left, _, right) => {
                operand(left);
                operand(right);
            }
            QueryCondition::Match(left, ..) | QueryCondition::Holds(left) => operand(left),
        }
    }

    /// All fields that it compares with a text, and these.
    pub fn texts<'a>(&'a self, out: &mut Vec<(&'a str, &'a str)>) {
        match self {
            QueryCondition::All(parts) | QueryCondition::Any(parts) => {
                parts.iter().for_each(|part| part.texts(out));
            }
            QueryCondition::Not(part) => part.texts(out),
            QueryCondition::Compare(left, _, right) => match (left, right) {
                (Operand::Field(field), Operand::Literal(Literal::Text(text, _)))
                | (Operand::Literal(Literal::Text(text, _)), Operand::Field(field)) => {
                    out.push((field, text));
                }
                _ => {}
            },
            QueryCondition::Match(..) | QueryCondition::Holds(_) => {}
        }
    }
}
