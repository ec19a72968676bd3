//! JSON of two readers, compared.

use serde_json::Value as Json;

/// Equal, but for the last digits of numbers with fractions.
pub fn same(found: &Json, wanted: &Json) -> bool {
    match (found, wanted) {
        (Json::Number(a), Json::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            a == b || (a - b).abs() <= 1e-6 * b.abs()
        }
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            let named = |(key, value)| a.get(key).is_some_and(|found| same(found, value));
            a.len() == b.len() && b.iter().all(named)
        }
        _ => found == wanted,
    }
}

/// A number of nanoseconds since 1970, which is a text: many readers round numbers of that size.
pub fn nanos(value: &Json) -> Option<u64> {
    value.as_str()?.parse().ok()
}
