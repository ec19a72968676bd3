//! Makes an expression of tokens, by recursive descent.

use super::condition::{Literal, Operand, Operator, QueryCondition};
use super::lexer::{KNOWN_UNITS, PlacedToken, Token, tokens, unit_like};
use super::moment::moment;
use super::needle::compile;
use super::zone::local_now;
use crate::error::{Error, Result};

/// Parentheses and negations inside one another. Each takes some of the stack.
const DEEPEST: usize = 100;
/// What is no field unless a `$` says so, besides `true` and `false`.
const WORDS: [&str; 3] = ["and", "or", "not"];

/// Reads a whole expression.
pub fn expression(text: &str) -> Result<QueryCondition> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
    };
    let condition = parser.any()?;
    match parser.peek() {
        Token::End => Ok(condition),
        _ => Err(parser.expected_behind("&&, || or the end")),
    }
}

struct Parser {
    tokens: Vec<PlacedToken>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    /// Takes the next token, unless it is the end, which stays.
    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Takes the next token if it is one of these signs or words.
    fn take_if(&mut self, sign: &str, word: &str) -> bool {
        let is_it = match self.peek() {
            Token::Sign(found) => *found == sign,
            Token::Word(found) => found == word && !self.is_named(),
            _ => false,
        };
        if is_it {
            self.take();
        }
        is_it
    }

    /// Whether the next token is a field for certain, because it has a `$`.
    fn is_named(&self) -> bool {
        self.tokens[self.at].text.starts_with('$')
    }

    fn expected(&self, expected: &'static str) -> Error {
        let PlacedToken { token, at, text } = &self.tokens[self.at];
        let found = match token {
            Token::End => "the end".into(),
            _ => text.clone(),
        };
        Error::Expression {
            expected,
            found,
            at: *at,
        }
    }

    /// The same behind a comparison. What follows a number there may have been meant for its unit.
    fn expected_behind(&self, expected: &'static str) -> Error {
        let before = self.at.checked_sub(1).map(|at| &self.tokens[at].token);
        let is_number = matches!(before, Some(Token::Integer(_) | Token::Float(_)));
        match self.peek() {
            Token::Word(word) if is_number => match unit_like(word) {
                Some(true) => self.expected("a unit right behind its number"),
                Some(false) => Error::Unit {
                    unit: word.clone(),
                    at: self.tokens[self.at].at,
                    known: KNOWN_UNITS,
                },
                None => self.expected(expected),
            },
            _ => self.expected(expected),
        }
    }

    fn any(&mut self) -> Result<QueryCondition> {
        let mut parts = vec![self.all()?];
        while self.take_if("||", "or") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, QueryCondition::Any))
    }

    fn all(&mut self) -> Result<QueryCondition> {
        let mut parts = vec![self.not()?];
        while self.take_if("&&", "and") {
            parts.push(self.not()?);
        }
        Ok(one_or(parts, QueryCondition::All))
    }

    fn not(&mut self) -> Result<QueryCondition> {
        let is_group = *self.peek() == Token::Sign("(");
        if !is_group && !self.take_if("!", "not") {
            return self.comparison();
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Error::TooDeep { most: DEEPEST });
        }
        let inner = if is_group {
            self.take();
            let inner = self.any()?;
            if !self.take_if(")", "") {
                return Err(self.expected_behind("&&, || or )"));
            }
            inner
        } else {
            QueryCondition::Not(Box::new(self.not()?))
        };
        self.depth -= 1;
        Ok(inner)
    }

    fn comparison(&mut self) -> Result<QueryCondition> {
        let left = self.operand()?;
        let Token::Sign(sign) = *self.peek() else {
            return self.alone(left);
        };
        let comparison = match sign {
            "==" | "=" => Operator::Equal,
            "!=" => Operator::Unequal,
            "<" => Operator::Less,
            "<=" => Operator::AtMost,
            ">" => Operator::Greater,
            ">=" => Operator::AtLeast,
            "~" | "!~" if matches!(left, Operand::Field(_)) => {
                self.take();
                let Token::Text(pattern) = self.peek() else {
                    return Err(self.expected("a regular expression in quotes"));
                };
                let regex = compile(pattern, false)?;
                self.take();
                return Ok(QueryCondition::Match(left, regex, sign == "~"));
            }
            _ => return self.alone(left),
        };
        self.take();
        Ok(QueryCondition::Compare(left, comparison, self.operand()?))
    }

    /// A field without a comparison. A value by itself is a mistake: mostly a field in quotes.
    fn alone(&mut self, operand: Operand) -> Result<QueryCondition> {
        match operand {
            Operand::Field(_) => Ok(QueryCondition::Holds(operand)),
            Operand::Literal(_) => Err(self.expected("a comparison, such as == or >")),
        }
    }

    fn operand(&mut self) -> Result<Operand> {
        let has_dollar = self.is_named();
        let literal = match self.peek() {
            Token::Word(word) if !has_dollar && word == "true" => Literal::Bool(true),
            Token::Word(word) if !has_dollar && word == "false" => Literal::Bool(false),
            Token::Word(word) if !has_dollar && WORDS.contains(&word.as_str()) => {
                return Err(self.expected("a field or a value"));
            }
            Token::Word(word) => {
                let name = word.clone();
                self.take();
                return Ok(Operand::Field(name));
            }
            Token::Integer(value) => Literal::Integer(*value),
            Token::Float(value) => Literal::Float(*value),
            Token::Text(text) => Literal::Text(text.clone(), moment(text, &local_now()).ok()),
            Token::Sign(_) | Token::End => return Err(self.expected("a field or a value")),
        };
        self.take();
        Ok(Operand::Literal(literal))
    }
}

fn one_or(
    mut parts: Vec<QueryCondition>,
    several: fn(Vec<QueryCondition>) -> QueryCondition,
) -> QueryCondition {
    match parts.len() {
        1 => parts.remove(0),
        _ => several(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The condition, with all its parentheses.
    fn shown(condition: &QueryCondition) -> String {
        let list = |parts: &[QueryCondition], sign: &str| {
            let parts: Vec<_> = parts.iter().map(shown).collect();
            format!("({})", parts.join(sign))
        };
        let side = |operand: &Operand| match operand {
            Operand::Field(name) => name.clone(),
            Operand::Literal(Literal::Integer(value)) => value.to_string(),
            Operand::Literal(Literal::Float(value)) => format!("{value:?}"),
            Operand::Literal(Literal::Text(text, _)) => format!("{text:?}"),
            Operand::Literal(Literal::Bool(value)) => format!("<{value}>"),
        };
        match condition {
            QueryCondition::All(parts) => list(parts, "&"),
            QueryCondition::Any(parts) => list(parts, "|"),
            QueryCondition::Not(part) => format!("!{}", shown(part)),
            QueryCondition::Compare(left, how, right) => {
                format!("{} {how:?} {}", side(left), side(right))
            }
            QueryCondition::Match(left, regex, true) => format!("{} ~ {regex}", side(left)),
            QueryCondition::Match(left, regex, false) => format!("{} !~ {regex}", side(left)),
            QueryCondition::Holds(left) => side(left),
        }
    }

    #[test]
    fn expressions_are_read_as_usual() {
        for (text, expected) in [
            ("bytes > 1500", "bytes Greater 1500"),
            ("a=1&&b==2||c!=3", "((a Equal 1&b Equal 2)|c Unequal 3)"),
            ("a or b and not c", "(a|(b&!c))"),
            ("!(a || b) && c", "(!(a|b)&c)"),
            ("!!a", "!!a"),
            ("1500 <= bytes", "1500 AtMost bytes"),
            ("sent >= received", "sent AtLeast received"),
            ("ok == true && $true < 2", "(ok Equal <true>&true Less 2)"),
            ("$and and $0", "(and&0)"),
            ("$and == $or || not $not", "(and Equal or|!not)"),
            ("name ~ '^eth\\d'", r"name ~ ^eth\d"),
            ("name !~ \"lo\"", "name !~ lo"),
        ] {
            let read = expression(text).map(|condition| shown(&condition));
            assert_eq!(read, Ok(expected.to_string()), "{text}");
        }
    }

    #[test]
    fn mistakes_say_what_is_expected() {
        for (text, expected) in [
            (
                "",
                "expected a field or a value at character 1, got the end",
            ),
            (
                "a >",
                "expected a field or a value at character 4, got the end",
            ),
            ("a b", "expected &&, || or the end at character 3, got b"),
            (
                "a > 10 kB",
                "expected a unit right behind its number at character 8, got kB",
            ),
            (
                "(a > 10 kb)",
                "kb at character 9 is no unit: expected B, kB, MB, GB, TB, KiB, MiB, GiB, TiB, ns, \
                 us, µs, ms, s, min, m, h",
            ),
            (
                "a > 10 b2",
                "expected &&, || or the end at character 8, got b2",
            ),
            ("(a", "expected &&, || or ) at character 3, got the end"),
            ("a)", "expected &&, || or the end at character 2, got )"),
            (
                "\"a\"",
                "expected a comparison, such as == or > at character 4, got the end",
            ),
            (
                "a ~ b",
                "expected a regular expression in quotes at character 5, got b",
            ),
            ("a ~ '('", r#""(" is no regular expression: unclosed group"#),
            (
                "a and or b",
                "expected a field or a value at character 7, got or",
            ),
            (
                "a == not",
                "expected a field or a value at character 6, got not",
            ),
            (
                "ö ü \"two\nlines\"",
                "expected &&, || or the end at character 3, got ü",
            ),
            (
                "ö \"two\nlines\"",
                "expected &&, || or the end at character 3, got \"two?lines\"",
            ),
            (
                "a && || b",
                "expected a field or a value at character 6, got ||",
            ),
        ] {
            let error = expression(text).unwrap_err().to_string();
            assert_eq!(error, expected, "{text}");
        }
        let deep = "(".repeat(100_000);
        assert_eq!(expression(&deep).unwrap_err(), Error::TooDeep { most: 100 });
        assert!(expression(&format!("{}a{}", "(".repeat(100), ")".repeat(100))).is_ok());
    }
}
