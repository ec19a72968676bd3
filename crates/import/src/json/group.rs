//! Finds the lines of one event: each of several has its number among them.

use timeline::internal::ObjectValue;

use super::line::JsonLine;
use super::scan::float;
use crate::lines::MOST;
use crate::timestamp::Timestamps;

/// Most lines of an event.
const MOST_LINES: u64 = 256;

/// A line that may be one of several of an event.
#[derive(Default)]
pub struct Member {
    pub json: JsonLine,
    /// As it was.
    pub line: Vec<u8>,
    pub has_end: bool,
}

impl Member {
    /// The time of the line in nanoseconds since 1970, and the form of the text that says it.
    pub fn time(&self, times: &mut Timestamps) -> Option<(u64, Option<u32>)> {
        let json = &self.json;
        let value = json.values[json.time?];
        if value.kind != ObjectValue::Text {
            // A count: what stands in the line is read.
            let number = match value.kind {
                ObjectValue::Int => json.number(json.time?).to_string(),
                ObjectValue::Float => float(f64::from_bits(json.number(json.time?))),
                _ => return None,
            };
            return Some((times.find(number.as_bytes())?.unix_nanos, None));
        }
        let text = json.span(value.bytes);
        let found = times.find(text)?;
        let is_all = found.span == (0, text.len() as u32);
        Some((found.unix_nanos, is_all.then_some(found.form)))
    }
}

/// The lines of an event so far, which are of one file.
#[derive(Default)]
pub struct LineGroup {
    pub thread: u32,
    /// Those behind `count` are memory for further lines.
    lines: Vec<Member>,
    count: usize,
}

impl LineGroup {
    pub fn lines(&self) -> &[Member] {
        &self.lines[..self.count]
    }

    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Takes a line apart. Returns whether it is one of an event; then it is to be taken next.
    pub fn read(&mut self, line: &[u8]) -> bool {
        if self.lines.len() == self.count {
            self.lines.push(Member::default());
        }
        self.lines[self.count].json.read(line)
    }

    /// Whether the line that was read belongs to the event of the lines before.
    pub fn goes_on(&self, thread: u32) -> bool {
        let (Some(first), Some(next)) = (self.lines().first(), self.lines.get(self.count)) else {
            return false;
        };
        let length: usize = self.lines().iter().map(|member| member.line.len()).sum();
        let (first, next) = (&first.json, &next.json);
        let value = |json: &JsonLine, at: Option<usize>| {
            at.map(|at| json.span(json.values[at].bytes).to_vec())
        };
        self.thread == thread
            && next.index == Some(self.count as u64)
            && next.count == first.count
            && next.has_line()
            && next.level == first.level
            && value(next, next.time) == value(first, first.time)
            && value(next, next.id) == value(first, first.id)
            && length + next.bytes.len() + next.shape.len() <= MOST
    }

    /// Takes the line that was read. Returns whether further ones may belong to the event.
    pub fn take(&mut self, line: &[u8], has_end: bool, thread: u32) -> bool {
        let member = &mut self.lines[self.count];
        member.line.clear();
        member.line.extend_from_slice(line);
        member.has_end = has_end;
        self.thread = thread;
        self.count += 1;
        let json = &self.lines[0].json;
        let count = json.count.filter(|count| (2..=MOST_LINES).contains(count));
        json.index == Some(0) && json.has_line() && count.is_some_and(|all| all > self.count as u64)
    }

    /// Puts the line that was read in the place of the first one, because those before are taken.
    pub fn restart(&mut self) {
        self.lines.swap(0, self.count);
        self.count = 0;
    }
}
