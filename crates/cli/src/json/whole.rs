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
/// among all, and how many these are. `ends_line` says that the last object tells of a line feed at
/// the end. Returns whether there are such objects.
pub fn write_whole(
    objects: &str,
    path: &str,
    (message, first, ends_line): (&str, u64, bool),
    out: &mut Text,
) -> bool {
    let whole = parsed(objects).and_then(|all| merged(all, message, ends_line));
    let Some(whole) = whole else {
        return false;
    };
    whole.begin(path, out);
    out.push("\"line\":");
    out.number(first);
    out.push(",\"lines\":");
    out.number(line_count(message));
    out.push("}\n");
    true
}

/// Appends the objects of an event with the path of its file first. A member of that name gets a
/// number: `path_2`. Returns whether there are such objects.
pub fn write_with_path(objects: &str, path: &str, out: &mut Text) -> bool {
    let Some(all) = parsed(objects) else {
        return false;
    };
    for object in all {
        out.push("{");
        out.push(path);
        let members = object.apart_from(path).to_json();
        out.push(&members[1..]);
        out.push("\n");
    }
    true
}

fn parsed(objects: &str) -> Option<Vec<Members>> {
    let all: Result<Vec<Members>, _> = objects.lines().map(serde_json::from_str).collect();
    all.ok()
}

fn merged(mut all: Vec<Members>, message: &str, ends_line: bool) -> Option<Members> {
    let formats: Option<Vec<String>> = all.iter().map(Members::format).collect();
    let mut moved = Members::default();
    all.iter_mut().for_each(|one| one.take_numbers(&mut moved));
    if ends_line {
        all.iter_mut().for_each(Members::take_line_feed);
    }
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
        Some(formats) => {
            let end = if ends_line { "\n" } else { "" };
            whole.set("format", quoted(&(formats.join("\n") + end)))?;
        }
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
    /// another meaning is moved to the properties; an object stays, under another name.
    fn take_numbers(&mut self, moved: &mut Members) {
        let is_number = |one: &Self, name| {
            let at = one.at(name);
            at.is_some_and(|at| one.0[at].1.get().parse::<u64>().is_ok())
        };
        for (index, count) in [
            ("lineIndex", "lineCount"),
            // As they are written here, beside any others.
            ("line", "lines"),
            ("line", "lineCount"),
        ] {
            if is_number(self, index) && is_number(self, count) {
                self.take(index);
                self.take(count);
            }
        }
        for name in ["line", "lines"] {
            while let Some(value) = self.take(name) {
                // Among the properties, an object with a type would say something of the event.
                match value.get().starts_with('{') {
                    true => self.merge(Members(vec![(format!("{name}_2"), value)])),
                    false => moved.merge(Members(vec![(name.into(), value)])),
                }
            }
        }
    }

    /// Takes away that a line feed ends the message, which a whole one has.
    fn take_line_feed(&mut self) {
        let is_told = |at: &usize| self.0[*at].1.get() == "true";
        if self.at("lineFeed").filter(is_told).is_some() {
            self.take("lineFeed");
        }
    }

    /// The same, beside a path if there is one: a member of that name gets a number.
    fn apart_from(mut self, path: &str) -> Members {
        if path.is_empty() {
            return self;
        }
        while let Some(at) = self.at("path") {
            let mut names = (2..).map(|number| format!("path_{number}"));
            let free = names.find(|name| self.at(name).is_none());
            self.0[at].0 = free.expect("there are endless names");
        }
        self
    }

    /// Appends the object up to further members.
    fn begin(self, path: &str, out: &mut Text) {
        out.push("{");
        out.push(path);
        for (name, value) in &self.apart_from(path).0 {
            push_quoted(name, out);
            out.push(":");
            out.push(value.get());
            out.push(",");
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
