//! Writes addresses in lines of a log as objects that say what they lead to.

use timeline::dump::{STACK, SYMBOLS, Text, symbol};
use timeline::{Event, FieldType, Source, Value};
use timeline_reading::json::push_quoted;

/// The symbols of an event, as many as there is room for.
pub struct Symbols<'a> {
    source: &'a dyn Source,
    event: &'a Event,
    room: usize,
}

impl<'a> Symbols<'a> {
    /// Of an event of this source.
    pub fn new(source: &'a dyn Source, event: &'a Event) -> Symbols<'a> {
        Symbols {
            source,
            event,
            room: SYMBOLS,
        }
    }

    /// Appends a pointer, if it is known what it leads to. Returns whether it is.
    pub fn write(&mut self, kind: FieldType, value: &Value, out: &mut Text) -> bool {
        let address = match (kind, value) {
            (FieldType::Ptr, Value::Uint(address)) => *address,
            // In an archive, an event of integers only.
            (FieldType::Ptr, Value::Int(address)) => *address as u64,
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

    /// Appends the call stack. A frame without a name is its address. From the first one on for
    /// whose names there is no room, all are addresses.
    pub fn write_stack(&self, out: &mut Text) {
        let mut room = Some(STACK);
        out.push("[");
        for (place, address) in self.event.backtrace().iter().enumerate() {
            if place > 0 {
                out.push(",");
            }
            let frame = room.map(|room| (room, self.source.frame(self.event, *address)));
            let named = frame.map(|(room, frame)| (room, frame.name.is_some(), frame.to_string()));
            room = named
                .as_ref()
                .and_then(|(room, _, text)| room.checked_sub(text.len()));
            match named.filter(|(_, is_named, _)| *is_named && room.is_some()) {
                Some((_, _, text)) => object(&text, *address, out),
                None => out.number(*address),
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
