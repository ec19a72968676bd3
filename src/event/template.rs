//! Messages: which `$words` of the first line are arguments, and how they are shown.

use std::fmt;

/// Everything up to the first line break.
pub fn first_line(message: &str) -> &str {
    message.split(['\n', '\r']).next().unwrap_or("")
}

/// The names of the arguments: each `$` followed by letters, digits or `_` on the first line.
///
/// A `$` without such a word is text.
pub fn argument_names(message: &str) -> impl Iterator<Item = &str> {
    pieces(first_line(message)).filter_map(|piece| match piece {
        Piece::Argument(name) => Some(name),
        Piece::Text(_) => None,
    })
}

/// Writes the first line, each argument as `name(value)`. An argument without a value shows as
/// `name(?)`.
pub fn render(message: &str, args: &[i64], out: &mut impl fmt::Write) -> fmt::Result {
    let mut args = args.iter();
    for piece in pieces(first_line(message)) {
        match piece {
            Piece::Text(text) => out.write_str(text)?,
            Piece::Argument(name) => {
                out.write_str(name)?;
                match args.next() {
                    Some(value) => write!(out, "({value})")?,
                    None => out.write_str("(?)")?,
                }
            }
        }
    }
    Ok(())
}

/// A part of a message's first line.
#[derive(Debug, PartialEq)]
pub enum Piece<'a> {
    /// Text to show as it is.
    Text(&'a str),
    /// The name of an argument.
    Argument(&'a str),
}

/// The parts of a line, in order.
pub fn pieces(mut line: &str) -> impl Iterator<Item = Piece<'_>> {
    std::iter::from_fn(move || {
        if line.is_empty() {
            return None;
        }
        let (piece, rest) = next_piece(line);
        line = rest;
        Some(piece)
    })
}

fn next_piece(line: &str) -> (Piece<'_>, &str) {
    if let Some(length) = argument_at(line) {
        let (argument, rest) = line.split_at(length);
        return (Piece::Argument(&argument[1..]), rest);
    }
    // Text up to the next argument.
    let end = line
        .match_indices('$')
        .map(|(at, _)| at)
        .find(|&at| at > 0 && argument_at(&line[at..]).is_some())
        .unwrap_or(line.len());
    let (text, rest) = line.split_at(end);
    (Piece::Text(text), rest)
}

/// The length of the `$word` at the start of `text`, if there is one.
fn argument_at(text: &str) -> Option<usize> {
    let word = text.strip_prefix('$')?;
    let length = word
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
        .count();
    (length > 0).then_some(length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(message: &str) -> Vec<&str> {
        argument_names(message).collect()
    }

    fn rendered(message: &str, args: &[i64]) -> String {
        let mut text = String::new();
        render(message, args, &mut text).unwrap();
        text
    }

    #[test]
    fn dollar_words_of_the_first_line_are_the_arguments() {
        let seed = "processed $tcp, $udp, and $other";
        assert_eq!(names(seed), ["tcp", "udp", "other"]);
        assert_eq!(
            rendered(seed, &[10, 20, 3]),
            "processed tcp(10), udp(20), and other(3)"
        );
        assert_eq!(names("$a_1$b2 [$c]\nand $not"), ["a_1", "b2", "c"]);
        assert_eq!(names("costs 5$ or $ 5, $$x"), ["x"]);
        assert_eq!(
            rendered("costs 5$ or $ 5, $$x", &[7]),
            "costs 5$ or $ 5, $x(7)"
        );
        assert_eq!(names("naïve $größe"), ["gr"]);
        assert_eq!(names(""), [""; 0]);
        assert_eq!(rendered("a $b", &[]), "a b(?)");
        assert_eq!(rendered("$n\r\nmore", &[-1]), "n(-1)");
    }

    /// The plainest way to render: walk the characters.
    fn naive(line: &str, args: &[i64]) -> String {
        let chars: Vec<char> = line.chars().collect();
        let (mut out, mut i, mut n) = (String::new(), 0, 0);
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        while i < chars.len() {
            if chars[i] == '$' && i + 1 < chars.len() && word(chars[i + 1]) {
                i += 1;
                while i < chars.len() && word(chars[i]) {
                    out.push(chars[i]);
                    i += 1;
                }
                out += &args.get(n).map_or("(?)".into(), |v| format!("({v})"));
                n += 1;
            } else {
                out.push(chars[i]);
                i += 1;
            }
        }
        out
    }

    proptest! {
        #[test]
        fn rendering_agrees_with_its_naive_twin(line in "[a$_ 1é]{0,24}", args: [i64; 4]) {
            prop_assert_eq!(rendered(&line, &args), naive(&line, &args));
        }
    }
}
