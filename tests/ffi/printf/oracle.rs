//! The two sides: the C library's vsnprintf, and a payload packed as a writer does, rendered by us.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;

use tempfile::TempDir;
use timeline::Value;
use timeline::internal::{Format, values};

use crate::support::toolchain::{cc, limited, root, succeed};

/// A call of printf.
#[derive(Debug, Clone)]
pub struct Call {
    pub format: String,
    pub arguments: Vec<Argument>,
}

/// What a call passes.
#[derive(Debug, Clone)]
pub enum Argument {
    /// An integer, a pointer (`NULL`, too) or a `double`.
    Bits(u64),
    LongDouble([u8; 16]),
    Text(Vec<u8>),
    Wide(Vec<char>),
    /// Where `%n` stores to.
    Place,
}

impl Argument {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Argument::Bits(bits) => {
                out.push(b'g');
                out.extend(bits.to_ne_bytes());
            }
            Argument::LongDouble(bytes) => {
                out.push(b'L');
                out.extend(bytes);
            }
            Argument::Text(text) => {
                out.push(b's');
                write_string(text, out);
            }
            Argument::Wide(text) => {
                out.push(b'w');
                out.extend((text.len() as u32).to_ne_bytes());
                out.extend(text.iter().flat_map(|c| u32::from(*c).to_ne_bytes()));
            }
            Argument::Place => out.push(b'n'),
        }
    }
}

fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.extend((text.len() as u32).to_ne_bytes());
    out.extend(text);
}

/// The C program. It knows nothing of this library.
fn program() -> &'static PathBuf {
    static PROGRAM: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = PROGRAM.get_or_init(|| {
        let dir = TempDir::new().unwrap();
        let program = dir.path().join("printf_oracle");
        let mut compiler = cc();
        compiler.args(["-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror"]);
        compiler.arg(root().join("tests/c/printf_oracle.c"));
        succeed(compiler.arg("-o").arg(&program), "gcc");
        (dir, program)
    });
    program
}

/// What the C library writes for each; None where it refuses.
pub fn expected(calls: &[Call]) -> Vec<Option<Vec<u8>>> {
    let mut requests = Vec::new();
    for call in calls {
        write_string(call.format.as_bytes(), &mut requests);
        requests.extend((call.arguments.len() as u32).to_ne_bytes());
        for argument in &call.arguments {
            argument.write(&mut requests);
        }
    }
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("requests");
    File::create(&path).unwrap().write_all(&requests).unwrap();
    let input = File::open(&path).unwrap();
    let output = succeed(limited(program()).stdin(input), "coreutils");

    let mut results = &output.stdout[..];
    let expected = calls.iter().map(|call| {
        let (length, rest) = results
            .split_first_chunk()
            .unwrap_or_else(|| panic!("there is no result for {call:?}"));
        let length = i32::from_ne_bytes(*length);
        let (text, rest) = rest.split_at(length.max(0) as usize);
        results = rest;
        (length >= 0).then(|| text.to_vec())
    });
    expected.collect()
}

/// Packs the arguments by the types of the format, as a writer does that looks at nothing else.
pub fn payload(types: &[u32], arguments: &[Argument]) -> Vec<u8> {
    assert_eq!(types.len(), arguments.len(), "{arguments:?}");
    let mut payload = Vec::new();
    let mut last_int = 0;
    for (kind, argument) in types.iter().zip(arguments) {
        let constant = (kind >> 8 != 0xff_ffff).then_some((kind >> 8) as usize);
        let letter = *kind as u8;
        let precision = match letter {
            b'S' | b'W' => usize::try_from(last_int).ok(),
            _ => constant,
        };
        let packed = match (letter, argument) {
            (b'i', Argument::Bits(bits)) => {
                last_int = *bits as i32;
                Value::Int(last_int.into())
            }
            (b'u', Argument::Bits(bits)) => Value::Uint((*bits as u32).into()),
            (b'l', Argument::Bits(bits)) => Value::Int(*bits as i64),
            (b'U' | b'p', Argument::Bits(bits)) => Value::Uint(*bits),
            (b'd', Argument::Bits(bits)) => Value::Float(f64::from_bits(*bits)),
            (b'D', Argument::LongDouble(bytes)) => Value::LongDouble(*bytes),
            (b's' | b'S' | b'w' | b'W', Argument::Bits(0)) => Value::Nil,
            (b's' | b'S', Argument::Text(text)) => {
                pack_text(text, precision, &mut payload);
                continue;
            }
            (b'w' | b'W', Argument::Wide(text)) => {
                let text: String = text.iter().collect();
                pack_text(text.as_bytes(), precision, &mut payload);
                continue;
            }
            (b'n', Argument::Place) => continue,
            _ => panic!("type {} for {argument:?}", letter as char),
        };
        packed.encode(&mut payload);
    }
    payload
}

fn pack_text(text: &[u8], precision: Option<usize>, payload: &mut Vec<u8>) {
    let bytes = &text[..precision.map_or(text.len(), |most| most.min(text.len()))];
    Value::Text { bytes, cut: false }.encode(payload);
}

/// What we make of a call.
pub fn rendered(call: &Call) -> Vec<u8> {
    let format = Format::parse(&call.format);
    let types = format
        .types()
        .unwrap_or_else(|| panic!("{call:?} cannot be taken apart"));
    let mut text = Vec::new();
    format.render(values(&payload(&types, &call.arguments)), &mut text);
    text
}

/// Compares the two for each call, and tells of the first few that differ.
pub fn compare(calls: &[Call]) -> Result<(), String> {
    let mut differences = Vec::new();
    for (call, expected) in calls.iter().zip(expected(calls)) {
        let expected = expected.ok_or_else(|| format!("the C library refuses {call:?}"))?;
        let rendered = rendered(call);
        if rendered != expected {
            differences.push(format!(
                "{call:?}\n  expected {:?}\n  rendered {:?}",
                String::from_utf8_lossy(&expected),
                String::from_utf8_lossy(&rendered)
            ));
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    let count = differences.len();
    differences.truncate(10);
    Err(format!(
        "{count} of {} calls differ:\n{}",
        calls.len(),
        differences.join("\n")
    ))
}

/// The same, as a test.
pub fn agree(calls: &[Call]) {
    if let Err(differences) = compare(calls) {
        panic!("{differences}");
    }
}
