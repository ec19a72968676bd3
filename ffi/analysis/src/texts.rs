//! Keeps the texts that C is given of an event, until the next one.
use std::cell::RefCell;
use std::ffi::c_char;
use std::ptr;

/// The texts of an event. Boxed, so that their addresses stay when there are more.
#[derive(Default)]
pub struct EventTexts(RefCell<Vec<Box<[u8]>>>);

impl EventTexts {
    /// Forgets those of the event before.
    pub fn clear(&mut self) {
        self.0.get_mut().clear();
    }

    /// Ends a text with a NUL, and keeps it.
    pub fn keep(&self, text: &str) -> *const c_char {
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
        let bytes = bytes.into_boxed_slice();
        let begin = ptr::from_ref(&bytes[0]).cast();
        self.0.borrow_mut().push(bytes);
        begin
    }
}
