//! Shows events: one conversion of a value to JSON, for the command, the server and exports.
//!
//! # Example
//! ```
//! use timeline::{FieldType, Value, dump::Text};
//! use timeline_reading::json::push_value;
//!
//! let mut text = Text::new();
//! push_value(Some(FieldType::F32), &Value::Int(1.1_f32.to_bits().into()), &mut text);
//! assert_eq!(text.as_bytes(), b"1.1");
//! ```

pub mod json;
