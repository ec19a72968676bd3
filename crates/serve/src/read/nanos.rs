//! Numbers that browsers would round: a text in JSON, a number in CBOR.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// Nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnixNanos(pub u64);

impl Serialize for UnixNanos {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.collect_str(&self.0),
            false => serializer.serialize_u64(self.0),
        }
    }
}

/// Writes a value that stands there in JSON: as it stands, or as what it is.
pub fn json_value<S: Serializer>(value: &RawValue, serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        return value.serialize(serializer);
    }
    let value: serde_json::Value =
        serde_json::from_str(value.get()).map_err(serde::ser::Error::custom)?;
    value.serialize(serializer)
}

/// Likewise, if there is one.
pub fn json_option<S: Serializer>(
    value: &Option<Box<RawValue>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => json_value(value, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Both {
        at: UnixNanos,
        #[serde(serialize_with = "json_option")]
        value: Option<Box<RawValue>>,
        #[serde(serialize_with = "json_value")]
        other: Box<RawValue>,
        #[serde(serialize_with = "json_option")]
        none: Option<Box<RawValue>>,
    }

    #[test]
    fn large_numbers_are_whole_in_both() {
        let raw = |text: &str| RawValue::from_string(text.into()).unwrap();
        let both = Both {
            at: UnixNanos(u64::MAX),
            value: Some(raw("{\"a\":[1,-2.5,null,\"x\",18446744073709551615]}")),
            other: raw("true"),
            none: None,
        };
        let json = serde_json::to_string(&both).unwrap();
        assert_eq!(
            json,
            "{\"at\":\"18446744073709551615\",\
             \"value\":{\"a\":[1,-2.5,null,\"x\",18446744073709551615]},\
             \"other\":true,\"none\":null}"
        );
        let mut bytes = Vec::new();
        ciborium::into_writer(&both, &mut bytes).unwrap();
        let read: ciborium::Value = ciborium::from_reader(&bytes[..]).unwrap();
        let map = read.as_map().unwrap();
        assert_eq!(map[0].1, ciborium::Value::from(u64::MAX));
        let inner = map[1].1.as_map().unwrap();
        let list = inner[0].1.as_array().unwrap();
        assert_eq!(list[4], ciborium::Value::from(u64::MAX));
        assert_eq!(list[1], ciborium::Value::from(-2.5));
        assert_eq!(
            (&map[2].1, &map[3].1),
            (&true.into(), &ciborium::Value::Null)
        );
    }
}
