//! Writes the programs of C and of C++ that log events.

use super::event::{Event, Field, Value};

const HEAD: &str = "#include <stdint.h>
#include <string.h>
#include <wchar.h>
float f32(uint32_t bits) { float x; memcpy(&x, &bits, sizeof x); return x; }
double f64(uint64_t bits) { double x; memcpy(&x, &bits, sizeof x); return x; }
";

/// A program under construction.
struct Program {
    /// Data and types, before the functions.
    data: String,
    functions: String,
    is_cpp: bool,
}

/// An argument: its type and its expression.
struct Argument {
    kind: String,
    value: String,
}

/// A program of C that logs the events to the timeline whose name is its argument.
pub fn c(events: &[Event]) -> String {
    let program = Program::of(events, false);
    let open = "timeline_t *tl = 0;
  if (argc < 2 || timeline_open(argv[1], &tl) != TIMELINE_OK) return 1;";
    program.complete(
        "timeline.h",
        "timeline_t *tl",
        events.len(),
        open,
        "timeline_free(tl);",
    )
}

/// The same in C++.
pub fn cpp(events: &[Event]) -> String {
    let program = Program::of(events, true);
    let open = "if (argc < 2) return 1;
  timeline::ring tl = timeline::ring::open(argv[1]);";
    program.complete("timeline.hpp", "timeline::ring &tl", events.len(), open, "")
}

impl Program {
    fn of(events: &[Event], is_cpp: bool) -> Program {
        let (data, functions) = (String::new(), String::new());
        let mut program = Program {
            data,
            functions,
            is_cpp,
        };
        for (number, event) in events.iter().enumerate() {
            program.log(number, event);
        }
        program
    }

    fn complete(self, header: &str, takes: &str, count: usize, open: &str, end: &str) -> String {
        let functions = self.functions.replace("(TL)", &format!("({takes})"));
        let calls: String = (0..count)
            .map(|number| format!("  event_{number}(tl);\n"))
            .collect();
        let checked = "  return *timeline_last_error() ? (puts(timeline_last_error()), 1) : 0;";
        format!(
            "#include <stdio.h>\n#include <{header}>\n{HEAD}{}\n{functions}
int main(int argc, char **argv) {{\n  {open}\n{calls}  {end}\n{checked}\n}}\n",
            self.data
        )
    }

    /// A function that logs an event.
    fn log(&mut self, number: usize, event: &Event) {
        let arguments: Vec<Argument> = (event.fields.iter().enumerate())
            .map(|(at, field)| self.argument(&format!("{number}_{at}"), field))
            .collect();
        let message = literal(event.message(names_type).as_bytes());
        let kinds: Vec<&str> = arguments.iter().map(|own| own.kind.as_str()).collect();
        let values: Vec<&str> = arguments.iter().map(|own| own.value.as_str()).collect();
        let (kinds, values) = (kinds.join(", "), values.join(", "));
        let statement = match event.way % 3 {
            1 if self.is_cpp && arguments.len() <= 32 => {
                let members = (arguments.iter().enumerate())
                    .map(|(at, own)| format!("  {} m{at};\n", own.kind));
                self.data += &format!(
                    "struct declared_{number} {{\n  static constexpr auto event = \
                     timeline::declared(\"typed\", timeline::info, {message});\n{}}};\n",
                    members.collect::<String>()
                );
                format!("tl.log(declared_{number}{{{values}}});")
            }
            2 if self.is_cpp && !arguments.is_empty() => {
                format!("tl.define<{kinds}>(\"typed\", timeline::info, {message})({values});")
            }
            _ => {
                let comma = if values.is_empty() { "" } else { ", " };
                format!("TIMELINE_EVENT(tl, TIMELINE_INFO, \"typed\", {message}{comma}{values});")
                    .replace(
                        "TIMELINE_INFO",
                        if self.is_cpp {
                            "timeline::info"
                        } else {
                            "TIMELINE_INFO"
                        },
                    )
            }
        };
        self.functions += &format!("static void event_{number}(TL) {{\n  {statement}\n}}\n");
    }

    fn argument(&mut self, number: &str, field: &Field) -> Argument {
        match &field.value {
            Value::Word(word) => self.scalar(number, field, *word),
            Value::Text(text) => self.text(number, field.way, text.as_deref()),
            Value::Wide(text) => self.wide(number, field.way, text.as_deref()),
            Value::Array(words) => self.array(number, field, words.as_deref()),
        }
    }

    fn scalar(&mut self, number: &str, field: &Field, word: u64) -> Argument {
        let cast = |kind: &str| argument(kind, format!("({kind}){word:#x}ULL"));
        let pointer = |kind: &str| argument(kind, format!("({kind})(uintptr_t){word:#x}ULL"));
        let is_other = names_type(field) && field.way.is_multiple_of(2);
        match field.kind.as_str() {
            "f32" => argument("float", format!("f32({:#x}U)", word as u32)),
            "f64" => argument("double", format!("f64({word:#x}ULL)")),
            "bool" => argument("bool", format!("(bool)({word:#x}ULL != 0)")),
            "char" if !names_type(field) => argument("char", format!("(char){word:#x}ULL")),
            "ptr" => pointer(if is_other {
                "const volatile void *"
            } else {
                "double *"
            }),
            "hex" if is_other => pointer("void *"),
            "ns" if is_other && self.is_cpp => argument(
                "std::chrono::nanoseconds",
                format!("std::chrono::nanoseconds((int64_t){word:#x}ULL)"),
            ),
            kind if kind.contains('(') && is_other && self.is_cpp => {
                self.data += &format!("enum class named{number} : int64_t {{}};\n");
                argument(
                    &format!("named{number}"),
                    format!("(named{number})(int64_t){word:#x}ULL"),
                )
            }
            kind if is_number(kind) && !is_other => cast(&c_type(kind)),
            _ => cast(["long", "unsigned long long", "int64_t"][field.way as usize / 2 % 3]),
        }
    }

    fn text(&mut self, number: &str, way: u64, text: Option<&[u8]>) -> Argument {
        let Some(text) = text else {
            return match way % 3 {
                0 => argument(
                    "timeline_text_t",
                    "TIMELINE_TEXT((const char *)0, 5)".into(),
                ),
                1 => argument("char *", "(char *)0".into()),
                _ => argument("const char *", "(const char *)0".into()),
            };
        };
        let (literal, length) = (literal(text), text.len());
        match way % 4 {
            0 if self.is_cpp => {
                argument("std::string", format!("std::string({literal}, {length})"))
            }
            1 if self.is_cpp => argument(
                "std::string_view",
                format!("std::string_view({literal}, {length})"),
            ),
            0 | 1 if !text.contains(&0) => argument("const char *", literal),
            2 if !text.contains(&0) => {
                self.data += &format!("static char t{number}[] = {literal};\n");
                argument("const char *", format!("t{number}"))
            }
            _ => argument(
                "timeline_text_t",
                format!("TIMELINE_TEXT({literal}, {length})"),
            ),
        }
    }

    fn wide(&mut self, number: &str, way: u64, text: Option<&[u32]>) -> Argument {
        let name = match text {
            None => "(const wchar_t *)0".to_owned(),
            Some(text) => {
                let list = text.iter().map(|c| format!("(wchar_t){c:#x}U, "));
                let list: String = list.collect();
                self.data += &format!("static const wchar_t w{number}[] = {{{list}0}};\n");
                format!("w{number}")
            }
        };
        match self.is_cpp && way.is_multiple_of(2) {
            true => argument("const wchar_t *", name),
            false => argument("timeline_wide_t", format!("TIMELINE_WIDE({name})")),
        }
    }

    fn array(&mut self, number: &str, field: &Field, words: Option<&[u64]>) -> Argument {
        let element = field.kind.trim_end_matches("[]");
        let mut kind = c_type(element);
        if element.ends_with("64") && element != "f64" && (field.way / 16).is_multiple_of(2) {
            kind = kind
                .replace("uint64_t", "unsigned long long")
                .replace("int64_t", "long long");
        }
        let Some(words) = words else {
            let null = format!("TIMELINE_ARRAY(({kind} *)0, 3)");
            return argument(&made_of(element, &kind), null);
        };
        let one = |word: &u64| match element {
            "f32" => format!("{:#x}U", *word as u32),
            "f64" => format!("{word:#x}ULL"),
            _ => format!("({kind}){word:#x}ULL"),
        };
        let numbers: Vec<String> = words.iter().map(one).collect();
        let numbers = numbers.join(", ");
        let bits = match element {
            "f32" => "uint32_t",
            "f64" => "uint64_t",
            _ => &kind,
        };
        let empty = if words.is_empty() { "0" } else { "" };
        self.data += &format!("static const {bits} a{number}[] = {{{numbers}{empty}}};\n");
        let first = format!("(const {kind} *)(const void *)a{number}");
        let count = words.len();
        match field.way % 4 {
            0 if self.is_cpp => {
                let value = format!("std::vector<{kind}>({first}, {first} + {count})");
                argument(&format!("std::vector<{kind}>"), value)
            }
            1 if self.is_cpp => {
                let kind = format!("std::span<const {kind}>");
                argument(&kind, format!("{kind}({first}, {count})"))
            }
            _ => argument(
                &made_of(element, &kind),
                format!("TIMELINE_ARRAY({first}, {count})"),
            ),
        }
    }
}

fn argument(kind: &str, value: String) -> Argument {
    let kind = kind.to_owned();
    Argument { kind, value }
}

/// The type of `TIMELINE_ARRAY` of such elements.
fn made_of(element: &str, kind: &str) -> String {
    let name = match kind {
        "int64_t" => "long",
        "uint64_t" => "ulong",
        _ => element,
    };
    format!("timeline_{name}s_t")
}

fn is_number(kind: &str) -> bool {
    matches!(
        kind,
        "i8" | "i16" | "i32" | "i64" | "u8" | "u16" | "u32" | "u64"
    )
}

fn c_type(kind: &str) -> String {
    match kind {
        "f32" => "float".to_owned(),
        "f64" => "double".to_owned(),
        _ => kind.replace('i', "int").replace('u', "uint") + "_t",
    }
}

/// Whether the message has to name the type, or does.
fn names_type(field: &Field) -> bool {
    let is_of_c = match &field.value {
        // Only a byte is a `char`.
        Value::Word(word) if field.kind == "char" => i8::try_from(*word as i64).is_ok(),
        Value::Word(_) => {
            is_number(&field.kind) || matches!(&*field.kind, "f32" | "f64" | "bool" | "ptr")
        }
        Value::Text(_) => field.kind != "istr",
        Value::Wide(_) => field.kind == "wstr",
        Value::Array(_) => true,
    };
    field.has_type || !is_of_c
}

/// A literal of the bytes. A number in base 8 has three digits, and ends there.
fn literal(text: &[u8]) -> String {
    let byte = |byte: &u8| match byte.is_ascii_alphanumeric() || b" $_,".contains(byte) {
        true => char::from(*byte).to_string(),
        false => format!("\\{byte:03o}"),
    };
    format!("\"{}\"", text.iter().map(byte).collect::<String>())
}
