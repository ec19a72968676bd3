//! Makes one object of the objects of an event that was imported from JSON.

use timeline::dump::Text;
use timeline_reading::json::{Members, push_quoted};
use timeline_search::line_count;

use super::quoted;

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
    let whole = Members::parse_lines(objects).and_then(|all| merged(all, message, ends_line));
    let Some(whole) = whole else {
        return false;
    };
    begin(whole, path, out);
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
    let Some(all) = Members::parse_lines(objects) else {
        return false;
    };
    for object in all {
        out.push("{");
        out.push(path);
        let members = apart_from(object, path).to_json();
        out.push(&members[1..]);
        out.push("\n");
    }
    true
}

fn merged(mut all: Vec<Members>, message: &str, ends_line: bool) -> Option<Members> {
    let formats: Option<Vec<String>> = all.iter().map(format).collect();
    let mut moved = Members::default();
    all.iter_mut().for_each(|one| take_numbers(one, &mut moved));
    if ends_line {
        all.iter_mut().for_each(take_line_feed);
    }
    let mut all = all.into_iter();
    let mut whole = all.next()?;
    let properties = whole.get("properties");
    let has_properties = properties.is_some();
    let mut inner = properties.map_or(Some(Members::default()), Members::parse);
    for mut other in all {
        other.take("message");
        other.take("format");
        let own = other.get("properties").and_then(Members::parse);
        if let (Some(inner), Some(own)) = (&mut inner, own) {
            other.take("properties");
            inner.merge(own);
        }
        whole.merge(other);
    }
    if let Some(mut inner) = inner {
        inner.merge(moved);
        if has_properties || !inner.0.is_empty() {
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
        None if format(&whole).is_some() => drop(whole.take("format")),
        None => {}
    }
    Some(whole)
}

fn format(object: &Members) -> Option<String> {
    serde_json::from_str(object.get("format")?).ok()
}

/// Takes away which line of its event an object is, and of how many. What has one of these names
/// and another meaning is moved to the properties; an object stays, under another name.
fn take_numbers(object: &mut Members, moved: &mut Members) {
    let is_number = |one: &Members, name| {
        let value = one.get(name);
        value.is_some_and(|value| value.parse::<u64>().is_ok())
    };
    for (index, count) in [
        ("lineIndex", "lineCount"),
        // As they are written here, beside any others.
        ("line", "lines"),
        ("line", "lineCount"),
    ] {
        if is_number(object, index) && is_number(object, count) {
            object.take(index);
            object.take(count);
        }
    }
    for name in ["line", "lines"] {
        while let Some(value) = object.take(name) {
            // Among the properties, an object with a type would say something of the event.
            match value.get().starts_with('{') {
                true => object.merge(Members(vec![(format!("{name}_2"), value)])),
                false => moved.merge(Members(vec![(name.into(), value)])),
            }
        }
    }
}

/// Takes away that a line feed ends the message, which a whole one has.
fn take_line_feed(object: &mut Members) {
    if object.get("lineFeed") == Some("true") {
        object.take("lineFeed");
    }
}

/// The same object, beside a path if there is one: a member of that name gets a number.
fn apart_from(mut object: Members, path: &str) -> Members {
    if path.is_empty() {
        return object;
    }
    while let Some(at) = object.at("path") {
        object.0[at].0 = object.free("path");
    }
    object
}

/// Appends an object up to further members.
fn begin(object: Members, path: &str, out: &mut Text) {
    out.push("{");
    out.push(path);
    for (name, value) in &apart_from(object, path).0 {
        push_quoted(name, out);
        out.push(":");
        out.push(value.get());
        out.push(",");
    }
}
