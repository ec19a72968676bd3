//! Writes addresses in lines of a log as objects that say what they lead to.

use timeline::dump::{SYMBOLS, Text, calls, symbol};
use timeline::{Event, FieldType, Source, Value};
use timeline_reading::json::push_quoted;

/// The symbols of an event, as many as there is room for.
pub struct JsonSymbols<'a> {
    source: &'a dyn Source,
    event: &'a Event,
    room: usize,
}

impl<'a> JsonSymbols<'a> {
    /// Of an event of this source.
    pub fn new(source: &'a dyn Source, event: &'a Event) -> JsonSymbols<'a> {
        JsonSymbols {
            source,
            event,
            room: SYMBOLS,
        }
    }

    /// Appends a pointer, if it is known what it leads to. Returns whether it is.
    pub fn write(&mut self, kind: FieldType, value: &Value, out: &mut Text) -> bool {
        let address = match value {
            Value::Uint(address) if kind.is_address() => *address,
            // In an archive, an event of integers only.
            Value::Int(address) if kind.is_address() => *address as u64,
            _ => return false,
        };
        let found = symbol(self.source, self.event, address);
        let fits = found.and_then(|text| Some((self.room.checked_sub(text.len())?, text)));
        let Some((room, text)) = fits else {
            return false;
        };
        self.room = room;
        object(&text, address, out);
        true
    }

    /// Appends the call stack, each function for itself, also one that was inlined. A frame without
    /// a name is its address. From the first one on for whose texts there is no room, all are
    /// addresses.
    pub fn write_stack(&self, out: &mut Text) {
        out.push("[");
        let mut is_first = true;
        for (frame, texts) in calls(self.source, self.event) {
            // The last of the texts is that of the frame itself.
            let inlined = frame.inlined.len();
            for (place, text) in texts.iter().enumerate() {
                if !std::mem::take(&mut is_first) {
                    out.push(",");
                }
                match place < inlined || frame.name.is_some() {
                    true => object(text, frame.address, out),
                    false => out.number(frame.address),
                }
            }
        }
        out.push("]");
    }
}

fn object(text: &str, address: u64, out: &mut Text) {
    out.push("{\"$type\":\"Symbol\",\"$text\":");
    push_quoted(text, out);
    out.push(",\"address\":");
    out.number(address);
    out.push("}");
}
