//! Makes one object of the objects of an event that was imported from JSON.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use timeline::dump::Text;
use timeline_reading::json::push_quoted;
use timeline_search::line_count;

use super::quoted;

/// The members of an object, in its order. A name may come twice.
#[derive(Default)]
struct Members(Vec<(String, Box<RawValue>)>);

/// Appends one object of those of an event, which stand one a line in `objects`: the first one,
/// with the whole message and its format, and with the properties and the other members that only
/// those behind it have. In place of the numbers of its line, it has the number of its first line
/// among all, and how many these are. Returns whether there are such objects.
pub fn write_whole(
    objects: &str,
    before: &str,
    (message, first): (&str, u64),
    out: &mut Text,
) -> bool {
    let all: Result<Vec<Members>, _> = objects.lines().map(serde_json::from_str).collect();
    let Some(whole) = all.ok().and_then(|all| merged(all, message)) else {
        return false;
    };
    out.push("{");
    out.push(before);
    for (name, value) in &whole.0 {
        push_quoted(name, out);
        out.push(":");
        out.push(value.get());
        out.push(",");
    }
    out.push("\"line\":");
    out.number(first);
    out.push(",\"lines\":");
    out.number(line_count(message));
    out.push("}\n");
    true
}

fn merged(mut all: Vec<Members>, message: &str) -> Option<Members> {
    let formats: Option<Vec<String>> = all.iter().map(Members::format).collect();
    let mut moved = Members::default();
    all.iter_mut().for_each(|one| one.take_numbers(&mut moved));
    let mut all = all.into_iter();
    let mut whole = all.next()?;
    let properties = whole.at("properties");
    let mut inner = properties.map_or(Ok(Members::default()), |at| {
        serde_json::from_str(whole.0[at].1.get())
    });
    for mut other in all {
        other.take("message");
        other.take("format");
        let own = other.at("properties");
        let own = own.and_then(|at| serde_json::from_str(other.0[at].1.get()).ok());
        if let (Ok(inner), Some(own)) = (&mut inner, own) {
            other.take("properties");
            inner.merge(own);
        }
        whole.merge(other);
    }
    if let Ok(mut inner) = inner {
        inner.merge(moved);
        if properties.is_some() || !inner.0.is_empty() {
            whole.set("properties", inner.to_json())?;
        }
    }
    if whole.at("message").is_some() {
        whole.set("message", quoted(message))?;
    }
    match formats {
        Some(formats) => whole.set("format", quoted(&formats.join("\n")))?,
        // Some of the lines have none, so the message has none.
        None if whole.format().is_some() => drop(whole.take("format")),
        None => {}
    }
    Some(whole)
}

impl Members {
    fn at(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|(own, _)| own == name)
    }

    fn take(&mut self, name: &str) -> Option<Box<RawValue>> {
        self.at(name).map(|at| self.0.remove(at).1)
    }

    fn set(&mut self, name: &str, json: String) -> Option<()> {
        let json = RawValue::from_string(json).ok()?;
        match self.at(name) {
            Some(at) => self.0[at].1 = json,
            None => self.0.push((name.into(), json)),
        }
        Some(())
    }

    fn format(&self) -> Option<String> {
        serde_json::from_str(self.0[self.at("format")?].1.get()).ok()
    }

    /// Takes away which line of its event this is, and of how many. What has one of these names and
    /// another meaning is moved.
    fn take_numbers(&mut self, moved: &mut Members) {
        let is_number = |one: &Self, name| {
            let at = one.at(name);
            at.is_some_and(|at| one.0[at].1.get().parse::<u64>().is_ok())
        };
        for (index, count) in [
            ("lineIndex", "lineCount"),
            ("line", "lineCount"),
            ("line", "lines"),
        ] {
            if is_number(self, index) && is_number(self, count) {
                self.take(index);
                self.take(count);
            }
        }
        for name in ["line", "lines"] {
            let other = self.take(name).map(|value| (name.into(), value));
            moved.merge(Members(other.into_iter().collect()));
        }
    }

    /// Adds what another one has. If both have different values of a name, that of the other one
    /// gets a number: `user_2`.
    fn merge(&mut self, other: Members) {
        for (name, value) in other.0 {
            let mut free = name.clone();
            let mut number = 1;
            while let Some(at) = self.at(&free) {
                if self.0[at].1.get() == value.get() {
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

    fn to_json(&self) -> String {
        let member =
            |(name, value): &(String, Box<RawValue>)| format!("{}:{}", quoted(name), value.get());
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
