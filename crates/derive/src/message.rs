//! The message of an event: its places, and the one that a struct without a message has.

use syn::{Error, LitStr, Result};

/// The names in the places of a message, in their order.
pub fn places(message: &LitStr) -> Result<Vec<String>> {
    let text = message.value();
    let wrong = |text: &str| Err(Error::new(message.span(), text));
    let mut rest = text.lines().next().unwrap_or_default();
    let mut names = Vec::new();
    while let Some(at) = rest.find(['{', '}']) {
        let (brace, behind) = rest[at..].split_at(1);
        if let Some(behind) = behind.strip_prefix(brace) {
            rest = behind;
            continue;
        }
        if brace == "}" {
            return wrong("a closing brace without an opening one: for a brace, write two");
        }
        let Some((name, behind)) = behind.split_once('}') else {
            return wrong("an opening brace without a closing one: for a brace, write two");
        };
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_word) {
            return wrong(&format!("`{name}` between braces is no name of a field"));
        }
        names.push(name.to_owned());
        rest = behind;
    }
    Ok(names)
}

/// The words of the name of a struct, and all fields: `tcp sent {size} {host}` of `TcpSent`.
pub fn by_name(structure: &str, fields: &[String]) -> String {
    let letters: Vec<char> = structure.chars().collect();
    let mut message = String::new();
    for (at, letter) in letters.iter().enumerate() {
        // A word begins with a capital behind a small letter, or before one: `ABCDef` is `abc def`.
        let before = at.checked_sub(1).map(|before| letters[before]);
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                let next = letters.get(at + 1).copied();
                !before.is_uppercase() || next.is_some_and(char::is_lowercase)
            });
        if begins || *letter == '_' {
            message.push(' ');
        }
        if *letter != '_' {
            message.extend(letter.to_lowercase());
        }
    }
    let words = message.split_whitespace().map(str::to_owned);
    let places = fields.iter().map(|name| format!("{{{name}}}"));
    words.chain(places).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::Span;

    #[test]
    fn names_of_structs_become_words() {
        let fields = ["size".to_owned(), "r_to".to_owned()];
        for (name, expected) in [
            ("Sent", "sent {size} {r_to}"),
            ("TcpPacketSent", "tcp packet sent {size} {r_to}"),
            ("HTTPRequest", "http request {size} {r_to}"),
            ("Ipv4To6", "ipv4 to6 {size} {r_to}"),
            ("a_B__c", "a b c {size} {r_to}"),
        ] {
            assert_eq!(by_name(name, &fields), expected);
        }
        assert_eq!(by_name("Started", &[]), "started");
    }

    #[test]
    fn places_are_found_in_order() {
        let places = |text| places(&LitStr::new(text, Span::call_site()));
        assert_eq!(places("{b} {{c}} {a}{b}\n{d").unwrap(), ["b", "a", "b"]);
        assert!(places("").unwrap().is_empty());
        for wrong in ["a}", "{a", "{}", "{a:x}", "{a b}", "{größe}", "{{a}"] {
            assert!(places(wrong).is_err(), "{wrong}");
        }
    }
}
