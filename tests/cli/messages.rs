//! Messages as they are shown: exactly as printf writes them, on lines of their own.

use std::ffi::{CString, c_int};

use timeline::{Priority, Timeline, Value, lay_out};

use crate::command::*;
use crate::support::Name;
use crate::typed::in_a_line;

/// Values that end in line breaks, have them inside, or are nothing else.
const TEXTS: [&str; 7] = [
    "x\r\n",
    "\n",
    "\n\n\r",
    "first\nsecond\r\nthird",
    "",
    "\\n is no line break",
    "tab\tand bell\u{7}",
];

/// What snprintf writes for a format of one string or one character.
fn snprintf<T>(format: &str, value: T) -> String {
    let format = CString::new(format).unwrap();
    let mut text = [0_u8; 256];
    // SAFETY: the buffer has as many bytes, and the format takes one value of this type.
    let length =
        unsafe { libc::snprintf(text.as_mut_ptr().cast(), text.len(), format.as_ptr(), value) };
    String::from_utf8(text[..length as usize].to_vec()).unwrap()
}

/// Logs each text by each of some formats, and some characters; what snprintf makes of them, the
/// newest last.
fn log(timeline: &Timeline) -> Vec<String> {
    let mut expected = Vec::new();
    let mut say = |format: &str, value: Value, text: String| {
        let event = timeline.define_printf(
            "printf",
            Priority::Info,
            format,
            ("a.c", 1),
            &Default::default(),
        );
        timeline.log_payload(event.unwrap(), &lay_out(&[value]), false);
        expected.push(text);
    };
    for format in ["%s", "%s\n", "\r\n%8s|\n\n"] {
        for text in TEXTS {
            let c = CString::new(text).unwrap();
            let bytes = text.as_bytes();
            say(
                format,
                Value::Text { bytes, cut: false },
                snprintf(format, c.as_ptr()),
            );
        }
    }
    for c in ['\n', '\r', 'c'] {
        let c = c_int::from(c as u8);
        say("%c", Value::Int(c.into()), snprintf("%c", c));
        say("[%-3c\n", Value::Int(c.into()), snprintf("[%-3c\n", c));
    }
    expected
}

#[test]
fn messages_of_printf_are_those_of_snprintf_and_take_a_line_of_a_table() {
    let name = Name::new("exact");
    let timeline = name.create(1024);
    let expected = log(&timeline);
    let count = expected.len().to_string();
    let folder = tempfile::tempdir().unwrap();
    let [snapshot, archive] =
        ["exact.timeline", "exact.tla"].map(|file| folder.path().join(file).display().to_string());
    drop(timeline);
    succeed(&["save", name.path(), &snapshot]);
    succeed(&["record", name.path(), "-o", &archive, "--once"]);

    let marked: Vec<_> = expected.iter().map(|text| in_a_line(text)).collect();
    for path in [&snapshot, &archive] {
        for args in [
            &["dump", "--json", path][..],
            &["tail", "--json", "-n", &count, path],
        ] {
            let mut found: Vec<_> = succeed(args)
                .json()
                .iter()
                .map(|line| line["message"].as_str().unwrap().to_string())
                .collect();
            if args[0] == "dump" {
                found.reverse();
            }
            assert_eq!(found, expected, "{args:?}");
        }
        for args in [
            &["dump", path][..],
            &["dump", "--long", path],
            &["tail", "-n", &count, path],
            &["tail", "--long", "-n", &count, path],
        ] {
            let ran = succeed(args);
            // A terminal begins a new line at either.
            let mut lines: Vec<_> = ran
                .stdout
                .strip_suffix('\n')
                .unwrap()
                .split(['\n', '\r'])
                .collect();
            if args[0] == "dump" {
                lines.remove(0);
                lines.reverse();
            }
            assert_eq!(lines.len(), marked.len(), "{args:?}: {lines:#?}");
            for (line, text) in lines.iter().zip(&marked) {
                assert!(line.ends_with(&format!(" {text}")), "{line:?} of {text:?}");
            }
        }
    }
}
