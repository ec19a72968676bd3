//! The members of JSON objects, as they stand there: the objects of an event become one.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::to_string;

/// The members of an object, in its order and with its own spelling of numbers. A name may come
/// twice.
///
/// # Example
/// ```
/// use timeline_reading::json::Members;
/// let mut one = Members::parse(r#"{"user":1,"n":1.50}"#).expect("an object");
/// one.merge(Members::parse(r#"{"user":2,"n":1.50}"#).expect("an object"));
/// assert_eq!(one.to_json(), r#"{"user":1,"n":1.50,"user_2":2}"#);
/// ```
#[derive(Debug, Default)]
pub struct Members(pub Vec<(String, Box<RawValue>)>);

impl Members {
    /// Those of an object in JSON; `None` if the text is none.
    pub fn parse(object: &str) -> Option<Members> {
        serde_json::from_str(object).ok()
    }

    /// Those of several objects, one in each line; `None` if a line has none.
    pub fn parse_lines(objects: &str) -> Option<Vec<Members>> {
        objects.lines().map(Members::parse).collect()
    }

    /// The place of a name.
    pub fn at(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|(own, _)| own == name)
    }

    /// The value of a name, in JSON.
    pub fn get(&self, name: &str) -> Option<&str> {
        Some(self.0[self.at(name)?].1.get())
    }

    /// Takes the first member of a name away.
    pub fn take(&mut self, name: &str) -> Option<Box<RawValue>> {
        self.at(name).map(|at| self.0.remove(at).1)
    }

    /// Gives a name this value; `None` if it is no JSON.
    pub fn set(&mut self, name: &str, json: String) -> Option<()> {
        let json = RawValue::from_string(json).ok()?;
        match self.at(name) {
            Some(at) => self.0[at].1 = json,
            None => self.0.push((name.into(), json)),
        }
        Some(())
    }

    /// The first name that is free of `name_2`, `name_3`.
    pub fn free(&self, name: &str) -> String {
        let mut names = (2..).map(|number| format!("{name}_{number}"));
        let free = names.find(|name| self.at(name).is_none());
        free.expect("there are endless names")
    }

    /// Adds the members of another object. If both have different values of a name, that of the
    /// other one gets a number: `user_2`.
    pub fn merge(&mut self, other: Members) {
        for (name, value) in other.0 {
            let mut free = name.clone();
            let mut number = 1;
            while let Some(known) = self.get(&free) {
                if known == value.get() {
                    break;
                }
                number += 1;
                free = format!("{name}_{number}");
            }
            if self.at(&free).is_none() {
                self.0.push((free, value));
            }
        }
    }

    /// The object in JSON.
    pub fn to_json(&self) -> String {
        let member = |(name, value): &(String, Box<RawValue>)| {
            format!("{}:{}", to_string(name), value.get())
        };
        let members: Vec<_> = self.0.iter().map(member).collect();
        format!("{{{}}}", members.join(","))
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}
