//! Makes the bytes of lines of the events that they became.

use std::collections::HashMap;
use std::sync::Arc;

use timeline::{Format, values};
use timeline_archive::{RecordedDefinition, RecordedEvent};

use super::template::has_no_end;

/// Gives back imported lines as they were.
#[derive(Default)]
pub struct LineWriter {
    /// By the address of a definition, which is kept so that no other one gets it.
    formats: HashMap<*const RecordedDefinition, (Arc<RecordedDefinition>, Format, bool)>,
}

impl LineWriter {
    /// Appends the line of an event.
    pub fn write(&mut self, event: &RecordedEvent, out: &mut Vec<u8>) {
        let key = Arc::as_ptr(&event.definition);
        let known = self.formats.entry(key).or_insert_with(|| {
            let text = event.definition.message.as_deref().unwrap_or_default();
            let definition = Arc::clone(&event.definition);
            (definition, Format::parse(text), !has_no_end(text))
        });
        let (_, format, has_end) = known;
        format.render(values(&event.payload), out);
        if *has_end {
            out.push(b'\n');
        }
    }
}
