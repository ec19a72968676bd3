//! A format, and what is to be filled in: packed values, or arguments by name.

use timeline::internal::{Format, argument_names, values};
use timeline::{Definition, EventId, Layout, Module, Priority, Value, lay_out};

/// Bytes of the longest field: a number of a `long double`'s length, beside width and precision.
const FIELD: usize = 2 * Format::LARGEST_FIELD as usize + 5000;

/// Reads a format up to the first NUL, and behind it a payload.
pub fn run(bytes: &[u8]) {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    let text = String::from_utf8_lossy(&bytes[..end]);
    let payload = bytes.get(end + 1..).unwrap_or_default();
    let format = Format::parse(&text);
    fills_in(&text, payload);
    packs_again(payload);
    lays_out(&format, payload);
    names(&text, payload);
    if let Some(module) = Module::parse(&text) {
        assert_eq!(Module::parse(&module.encode()), Some(module));
    }
}

fn fills_in(text: &str, payload: &[u8]) {
    let format = Format::parse(text);
    let mut shown = Vec::new();
    format.render(values(payload), &mut shown);
    let most = text.len() + payload.len() * 4 + 300 + Format::MOST_ARGUMENTS * FIELD;
    assert!(shown.len() <= most, "{} bytes", shown.len());
    if let Some(types) = format.types() {
        assert!(types.len() <= Format::MOST_ARGUMENTS);
        assert!(
            types
                .iter()
                .all(|kind| b"iulUdDpsSwWn".contains(&(*kind as u8)))
        );
    }
    let mut again = b"before".to_vec();
    format.render(values(payload), &mut again);
    assert_eq!(again.strip_prefix(b"before"), Some(shown.as_slice()));
}

fn packs_again(payload: &[u8]) {
    let pack = |values: &[Value]| {
        let mut packed = Vec::new();
        values.iter().for_each(|value| value.encode(&mut packed));
        packed
    };
    let found: Vec<Value> = values(payload).collect();
    let packed = pack(&found);
    let again: Vec<Value> = values(&packed).collect();
    assert_eq!(again.len(), found.len());
    // Bytes, because a number that is none does not equal itself.
    assert_eq!(pack(&again), packed);
}

/// The payload as words of a ring.
fn lays_out(format: &Format, payload: &[u8]) {
    let layout = Layout::of_format(format);
    let found: Vec<Value> = layout.values(payload).collect();
    let words = lay_out(&found);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let again: Vec<Value> = layout.values(&bytes).collect();
    // The word of a `%n` is in a payload, but is no value that could be laid out again.
    let types = format.types().unwrap_or_default();
    let has_places = types.iter().any(|kind| *kind as u8 == b'n');
    assert!(has_places || again.len() >= found.len().min(1));
    assert!(found.len() <= Format::MOST_ARGUMENTS);
    let mut shown = Vec::new();
    format.render(layout.values(payload), &mut shown);
}

fn names(text: &str, payload: &[u8]) {
    let definition = Definition::new(EventId(1), "fuzz", Priority::Info, text);
    assert_eq!(argument_names(text).count(), definition.argument_count());
    let mut args = [0; 4];
    for (arg, bytes) in args.iter_mut().zip(payload.chunks_exact(8)) {
        *arg = i64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    }
    let mut shown = String::new();
    let rendered = definition.render(&args, &mut shown);
    assert!(rendered.is_ok(), "a string takes everything");
    let most = definition.summary().len() + 24 * definition.argument_count();
    assert!(shown.len() <= most, "{} bytes", shown.len());
}
