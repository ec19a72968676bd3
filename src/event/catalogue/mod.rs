//! Catalogues: the events of a program in a text file, each with its documentation.
//! docs/events.md describes the form of the file.
//!
//! Here its events are defined; reading.rs reads its lines.

mod reading;

use std::io::{self, Read};
use std::path::Path;

use crate::error::{Error, Result};
use crate::event::definitions::priority::Priority;
use crate::shm;
use reading::CatalogueReader;

/// The most bytes of a file. It is read whole.
const LONGEST_FILE: u64 = 16 << 20;
/// What some editors put before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An event of a catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueEvent {
    /// The number of its line in the file, from 1 on.
    pub line: usize,
    /// Its name, which no other event of the file has: `engine.got_packet`.
    pub name: String,
    /// The part of the program it belongs to.
    pub category: String,
    /// How much detail it is.
    pub priority: Priority,
    /// Its channels, with `|` between; `=on` behind those that are on at first.
    pub channels: String,
    /// Whether its events are [important](crate::Attributes::important).
    pub important: bool,
    /// The message, with the documentation as further lines.
    pub message: String,
}

/// The events of a file, and its mistakes.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// The events without mistakes, in the order of the file.
    pub events: Vec<CatalogueEvent>,
    /// The mistakes, in the order of the file.
    pub mistakes: Vec<Error>,
}

impl Catalogue {
    /// Reads a file, with all its mistakes.
    ///
    /// # Errors
    /// `Io` if the file cannot be read, or is longer than 16 MiB.
    pub fn read(path: impl AsRef<Path>) -> Result<Catalogue> {
        let path = path.as_ref();
        let read = || -> io::Result<Vec<u8>> {
            let (file, mut text) = (shm::open_to_read(path)?, Vec::new());
            match file.take(LONGEST_FILE + 1).read_to_end(&mut text)? as u64 {
                0..=LONGEST_FILE => Ok(text),
                _ => Err(io::ErrorKind::FileTooLarge.into()),
            }
        };
        let text = read().map_err(|e| Error::io("read", path, e))?;
        Ok(Catalogue::parse(path, text))
    }

    /// Reads the text of a file. Its path is for mistakes, and for the first category: `engine` for
    /// `engine.events`. A line that is not UTF-8 is a mistake.
    pub fn parse(path: &Path, text: impl AsRef<[u8]>) -> Catalogue {
        let text = text.as_ref();
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let mut reading = CatalogueReader::new(path);
        for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
            reading.line(index + 1, line);
        }
        reading.found
    }

    /// The events.
    ///
    /// # Errors
    /// The first mistake, if there is one.
    pub fn sound(mut self) -> Result<Vec<CatalogueEvent>> {
        match self.mistakes.is_empty() {
            true => Ok(self.events),
            false => Err(self.mistakes.swap_remove(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::messages::syntax::Syntax;
    use crate::event::messages::template::checked_fields;
    use crate::event::names::name::event_name;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Catalogue {
        Catalogue::parse("dir/engine.events".as_ref(), text)
    }

    #[test]
    fn events_have_prose_priorities_channels_and_categories() {
        let text = "# about\n\npacket|got packet $len:bytes\nIt came.\n# not shown\n  And more.\n\n\
                    info itv bbc=on | sent: $n\ntrace important|idle\n[net rx]\n\
                    error|lost $n\r\n prose|\n\tpacket|is prose, too\n\
                    1|2|3\nthree words here|\n`a`|b\nwarning itv important bbc=on|late\n";
        let found = parsed(text);
        assert!(found.mistakes.is_empty(), "{:?}", found.mistakes);
        let told: Vec<_> = found
            .events
            .iter()
            .map(|event| {
                let CatalogueEvent {
                    line,
                    name,
                    category,
                    priority,
                    channels,
                    important,
                    message,
                } = event;
                let kept = if *important { " kept" } else { "" };
                format!("{line} {name} {category} {priority}{kept} {channels} {message:?}")
            })
            .collect();
        assert_eq!(
            told,
            [
                "3 engine.got_packet engine packet  \
                 \"got packet $len:bytes\\nIt came.\\n  And more.\"",
                "8 engine.sent engine info itv|bbc=on \"sent: $n\"",
                "9 engine.idle engine trace kept  \"idle\"",
                "11 net_rx.lost net rx error  \
                 \"lost $n\\n prose|\\n\\tpacket|is prose, too\\n1|2|3\\n\
                 three words here|\\n`a`|b\"",
                "17 net_rx.late net rx warning kept itv|bbc=on \"late\"",
            ]
        );
    }

    #[test]
    fn a_span_is_two_events() {
        let text = "info span|breath $n\nIt turned.\nTwice.\n\ninfo itv async_span|job $id\ninfo|b";
        let found = parsed(text).sound().expect("sound");
        let told = |event: &CatalogueEvent| {
            let CatalogueEvent {
                line,
                name,
                channels,
                message,
                ..
            } = event;
            format!("{line} {name} {channels} {message:?}")
        };
        assert_eq!(
            found.iter().map(told).collect::<Vec<_>>(),
            [
                "1 engine.begin_breath  \"begin breath $n\\nIt turned.\\nTwice.\"",
                "1 engine.end_breath  \"end breath $n\\nIt turned.\\nTwice.\"",
                "5 engine.start_job itv \"start job $id\"",
                "5 engine.finish_job itv \"finish job $id\"",
                "6 engine.b  \"b\"",
            ]
        );
    }

    #[test]
    fn of_a_span_with_a_mistake_there_is_neither_event() {
        for (text, line, expected, left) in [
            (
                "info span|$n",
                1,
                "expected a message that is text that begins with words, which name the span, \
                 found \"$n\"",
                0,
            ),
            (
                "info async_span|job",
                1,
                "expected a message that is text that begins with words, which name the span, with \
                 an argument behind them, which is its key, found \"job\"",
                0,
            ),
            (
                "info|end a $n\ninfo span|a",
                2,
                "expected an event with another name than that of line 1, found engine.end_a",
                1,
            ),
            (
                "info span=on|a",
                1,
                "expected a channel with another name: `span` alone marks spans, found \"span\"",
                0,
            ),
            (
                "info|b\n\ninfo span|a\nb\0",
                4,
                "expected a message that is text without NUL, found a NUL at byte 9 of \
                 \"begin a\\nb\\0\"",
                1,
            ),
        ] {
            let found = parsed(text);
            let told: Vec<_> = found.mistakes.iter().map(ToString::to_string).collect();
            assert_eq!(told, [format!("dir/engine.events:{line}: {expected}")]);
            assert_eq!(found.events.len(), left, "{text:?}");
        }
    }

    #[test]
    fn mistakes_say_what_was_expected_and_where() {
        for (text, expected) in [
            (
                "got packet",
                "1: expected PRIORITY|MESSAGE, [CATEGORY] or # and a comment, found \"got packet\"",
            ),
            (
                "\nloud|got",
                "2: expected a priority (error, warning, info, trace, app, packet, library), \
                 found \"loud\"",
            ),
            (
                "info a,b|got",
                "1: expected a channel of letters, digits, `_`, `.` and `-`, perhaps with =on, \
                 found \"a,b\"",
            ),
            ("info|", "1: expected a message behind the |, found nothing"),
            (
                "[a\ninfo|x",
                "1: expected a category, such as [engine], found \"[a\"",
            ),
            (
                "[]",
                "1: expected a category, such as [engine], found \"[]\"",
            ),
            (
                "info|a $b\nprose\ntrace|a $c",
                "3: expected an event with another name than that of line 1, found engine.a",
            ),
        ] {
            let found = parsed(text);
            let told: Vec<_> = found.mistakes.iter().map(ToString::to_string).collect();
            assert_eq!(told, [format!("dir/engine.events:{expected}")], "{text}");
        }
        let found = parsed("info|$a:u128");
        let told = found.mistakes[0].to_string();
        assert!(
            told.contains(":1: expected a type of $a, one of i8,")
                && told.ends_with("found \"u128\""),
            "{told}"
        );
        // The prose of an event with a mistake belongs to no other event.
        let found = parsed("info|a\n\nloud|b\nprose\n\ntrace|c\nmore");
        let messages: Vec<_> = found
            .events
            .iter()
            .map(|event| event.message.as_str())
            .collect();
        assert_eq!(messages, ["a", "c\nmore"]);
        assert!(parsed("info|a\n\nloud|").sound().is_err());
    }

    #[test]
    fn a_misspelt_priority_below_an_event_is_a_mistake() {
        let found = parsed("info|a $x\neror|lost $x packets\nprose\nWarning itv|b $y\ninfo|c");
        let told: Vec<_> = found.mistakes.iter().map(ToString::to_string).collect();
        let expected = |line, word: &str| {
            format!(
                "dir/engine.events:{line}: expected a priority (error, warning, info, trace, app, \
                 packet, library); or a space before a line that explains the event above, found \
                 {word:?}"
            )
        };
        assert_eq!(told, [expected(2, "eror"), expected(4, "Warning")]);
        let messages = found.events.iter().map(|event| event.message.as_str());
        assert_eq!(messages.collect::<Vec<_>>(), ["a $x", "c"]);
    }

    #[test]
    fn what_cannot_be_defined_is_a_mistake() {
        let long = "x".repeat(3_000);
        let channels: Vec<_> = (0..65).map(|n| format!("c{n}")).collect();
        let halves = [&channels[..64], &channels[63..]].map(|half| half.join(" "));
        for (text, line, expected) in [
            (
                format!("info {}|a", channels.join(" ")),
                1,
                "expected at most 64 channels in all, found another one, \"c64\"",
            ),
            (
                format!("info {}|a\ninfo {}|b", halves[0], halves[1]),
                2,
                "expected at most 64 channels in all, found another one, \"c64\"",
            ),
            (
                format!("info|a\n{long}\n{long}\nmore\ninfo|b"),
                3,
                "expected a message that is at most 4,096 bytes long, found 6003 bytes",
            ),
            (
                format!("[{long}{long}]"),
                1,
                "expected a category that is at most 4,096 bytes long, found 6000 bytes",
            ),
            (
                "info|a\nb\0".into(),
                2,
                "expected a message that is text without NUL, found a NUL at byte 3 of \
                 \"a\\nb\\0\"",
            ),
            (
                "info|a $x:enum(red=1,red=2)".into(),
                1,
                "expected another name for each number of $x, found \"red\" twice",
            ),
            (
                "info important=on|a".into(),
                1,
                "expected a channel with another name: `important` alone marks important events, \
                 found \"important\"",
            ),
        ] {
            let found = parsed(&text);
            let told: Vec<_> = found.mistakes.iter().map(ToString::to_string).collect();
            assert_eq!(told, [format!("dir/engine.events:{line}: {expected}")]);
            assert!(found.events.iter().all(|event| event.name != "engine.a") || line == 2);
        }
        assert!(
            parsed(&format!("info {}|a\ninfo c3|b", halves[0]))
                .sound()
                .is_ok()
        );
    }

    #[test]
    fn lines_that_are_not_utf_8_are_mistakes_and_a_byte_order_mark_is_none() {
        let read = |text: &[u8]| Catalogue::parse("engine.events".as_ref(), text);
        let found = read(b"\xef\xbb\xbfinfo|caf\xe9\nprose\n\ninfo|b\n\xff\ninfo|\xc3\xa9");
        let told: Vec<_> = found.mistakes.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "engine.events:1: expected a text in UTF-8, found 0xe9 as byte 9 of the line",
                "engine.events:5: expected a text in UTF-8, found 0xff as byte 1 of the line",
            ]
        );
        let messages = found.events.iter().map(|event| event.message.as_str());
        assert_eq!(messages.collect::<Vec<_>>(), ["é"]);
        let marked = read(b"\xef\xbb\xbfinfo|a\n").sound();
        assert_eq!(marked.expect("sound")[0].name, "engine.a");
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[a-z|# \n\\[\\]$:=]{0,40}|(info\\|[a-c $]{1,4}\n){0,6}") {
            let found = parsed(&text);
            for event in &found.events {
                prop_assert!(checked_fields(&event.message).is_ok());
                let name = event_name(&event.category, &event.message, Syntax::Template);
                prop_assert_eq!(&name, &event.name);
            }
        }
    }
}
