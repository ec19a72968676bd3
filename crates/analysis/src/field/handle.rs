//! A field that an analyser asks for by its name, and where it is in the events of a definition.

use std::marker::PhantomData;

use timeline::internal::ValueKind;
use timeline::{Definition, FieldType, Layout};

use super::value::AnalysisValue;

/// A field by its name, which is read as a `T`. It belongs to the analyser that asked for it.
#[derive(Debug)]
pub struct FieldHandle<T: ?Sized> {
    /// Its place among all that its analyser asked for.
    pub(crate) place: usize,
    pub(crate) value: PhantomData<fn() -> Box<T>>,
}

impl<T: ?Sized> Clone for FieldHandle<T> {
    fn clone(&self) -> FieldHandle<T> {
        *self
    }
}

impl<T: ?Sized> Copy for FieldHandle<T> {}

/// A handle that is of no analyser: events have no such field. So a struct can have a handle before
/// it asks for one.
impl<T: ?Sized> Default for FieldHandle<T> {
    fn default() -> FieldHandle<T> {
        FieldHandle {
            place: usize::MAX,
            value: PhantomData,
        }
    }
}

/// What was asked for.
pub struct FieldRequest {
    name: String,
    /// The type in errors.
    asked: &'static str,
    fits: fn(FieldType) -> bool,
}

/// Where a field is in the events of a definition.
#[derive(Debug, Clone, Copy)]
pub struct FieldPlace<'a> {
    pub position: usize,
    pub kind: FieldType<'a>,
    /// Whether it is the word of its position, where all values are words.
    pub is_word: bool,
}

/// What a request leads to in the events of a definition.
pub enum FieldSlot<'a> {
    /// They have no such field.
    Missing,
    Place(FieldPlace<'a>),
    /// It is of another type: its name, that type, and the one that was asked for.
    OtherType(String, String, &'static str),
}

impl FieldRequest {
    pub fn of<T: AnalysisValue + ?Sized>(name: &str) -> FieldRequest {
        FieldRequest {
            name: name.to_owned(),
            asked: T::NAME,
            fits: T::fits,
        }
    }

    /// Looks for it.
    pub fn on<'a>(&self, definition: &'a Definition, layout: &Layout) -> FieldSlot<'a> {
        let Some(position) = definition.position(&self.name) else {
            return FieldSlot::Missing;
        };
        let other = |has: String| FieldSlot::OtherType(self.name.clone(), has, self.asked);
        let (kind, is_word) = match definition.fields().nth(position) {
            Some(field) => {
                let is_word = field.kind.is_scalar() && definition.object.is_none();
                (field.kind, is_word)
            }
            // That of a format of printf, which names no types.
            None => {
                let name = match layout.kinds().nth(position) {
                    Some(ValueKind::Int) => "i64",
                    Some(ValueKind::Uint) => "u64",
                    Some(ValueKind::Float) => "f64",
                    Some(ValueKind::Text) => "str",
                    Some(ValueKind::LongDouble) => return other("long double".to_owned()),
                    None => return FieldSlot::Missing,
                };
                match FieldType::parse(name) {
                    Ok((kind, _)) => (kind, false),
                    Err(_) => return FieldSlot::Missing,
                }
            }
        };
        match (self.fits)(kind) {
            true => FieldSlot::Place(FieldPlace {
                position,
                kind,
                is_word,
            }),
            false => other(kind.to_string()),
        }
    }
}
