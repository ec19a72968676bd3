//! Makes the bytes of lines of the events that they became.

use std::collections::HashMap;
use std::sync::Arc;

use timeline::Value;
use timeline::dump::Text;
use timeline::internal::{Format, Object, values};
use timeline_archive::{OBJECT, RecordedDefinition, RecordedEvent};
use timeline_reading::json::write_object;

use super::template::has_no_end;

/// Gives back imported lines: of text byte for byte, of JSON as equal objects.
#[derive(Default)]
pub struct LineWriter {
    /// By the address of a definition, which is kept so that no other one gets it.
    formats: HashMap<*const RecordedDefinition, (Arc<RecordedDefinition>, Lines)>,
    /// Memory for messages and objects.
    message: Vec<u8>,
    objects: Text,
}

/// How events become lines.
struct Lines {
    format: Format,
    has_end: bool,
    object: Option<Object>,
}

impl Lines {
    fn of(definition: &RecordedDefinition) -> Lines {
        let text = definition.message.as_deref().unwrap_or_default();
        let is_object = definition.syntax == Some(OBJECT);
        let object = is_object.then(|| Object::parse(text)).flatten();
        Lines {
            format: Format::parse(object.as_ref().map_or(text, Object::format)),
            has_end: object.is_some() || !has_no_end(text),
            object,
        }
    }
}

impl LineWriter {
    /// Appends the line of an event, or its lines.
    pub fn write(&mut self, event: &RecordedEvent, out: &mut Vec<u8>) {
        let key = Arc::as_ptr(&event.definition);
        let (_, lines) = self.formats.entry(key).or_insert_with(|| {
            let definition = Arc::clone(&event.definition);
            let lines = Lines::of(&definition);
            (definition, lines)
        });
        let Some(object) = &lines.object else {
            lines.format.render(values(&event.payload), out);
            if lines.has_end {
                out.push(b'\n');
            }
            return;
        };
        let all: Vec<Value> = values(&event.payload).collect();
        self.message.clear();
        (lines.format).render(all.iter().cloned(), &mut self.message);
        self.objects.clear();
        let message = String::from_utf8_lossy(&self.message);
        write_object(object, &message, &all, "", &mut self.objects);
        out.extend_from_slice(self.objects.as_bytes());
    }
}
