//! Formats in which `{name}` stands in the places of values, as logs in JSON have them.

/// A part of such a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BracePart<'a> {
    /// Text to show as it is.
    Text(&'a str),
    /// The place of a value, by its name.
    Place(&'a str),
}

/// The parts of a format, in order. `{{` and `}}` are braces of the text. Of a place, there is the
/// name, without what says how it is shown: `{seconds:n1}`, `{@user}`. A brace that stands alone is
/// `None`, and the last one.
///
/// # Example
/// ```
/// use timeline::internal::{BracePart::*, brace_parts};
/// let parts: Option<Vec<_>> = brace_parts("took {seconds:n1}").collect();
/// assert_eq!(parts, Some(vec![Text("took "), Place("seconds")]));
/// ```
pub fn brace_parts(format: &str) -> impl Iterator<Item = Option<BracePart<'_>>> {
    let mut rest = format;
    std::iter::from_fn(move || {
        let text = rest;
        rest = "";
        let first = *text.as_bytes().first()?;
        let end = text.find(['{', '}']).unwrap_or(text.len());
        if end > 0 {
            rest = &text[end..];
            return Some(Some(BracePart::Text(&text[..end])));
        }
        if text.as_bytes().get(1) == Some(&first) {
            rest = &text[2..];
            return Some(Some(BracePart::Text(&text[..1])));
        }
        let end = text.find('}').filter(|_| first == b'{');
        Some(end.map(|end| {
            rest = &text[end + 1..];
            let name = text[1..end].split([':', ',']).next().unwrap_or_default();
            BracePart::Place(name.strip_prefix(['@', '$']).unwrap_or(name))
        }))
    })
}

#[cfg(test)]
mod tests {
    use super::BracePart::{Place, Text};
    use super::*;

    fn parts(format: &str) -> Option<Vec<BracePart<'_>>> {
        brace_parts(format).collect()
    }

    #[test]
    fn braces_of_the_text_are_doubled_and_others_are_places() {
        assert_eq!(parts(""), Some(vec![]));
        assert_eq!(
            parts("{{{n}}} of {@s,5}{x:n1}{}"),
            Some(vec![
                Text("{"),
                Place("n"),
                Text("}"),
                Text(" of "),
                Place("s"),
                Place("x"),
                Place(""),
            ])
        );
        for alone in ["{", "}", "a {b", "a} b", "{{{", "{a}}"] {
            assert_eq!(parts(alone), None, "{alone}");
            assert_eq!(brace_parts(alone).last(), Some(None), "{alone}");
        }
    }
}
