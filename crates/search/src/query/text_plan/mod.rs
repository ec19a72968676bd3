//! Tells by a message which values an event must have if a text is in it.
//!
//! The text of a template, or of a format of printf, is known, and of most values by which bytes
//! they are shown (parts.rs). So a text can stand only at some places of the message: `tcp(10)`
//! only where the template has an argument whose name ends in `tcp`, and only if its value is 10;
//! `port 22 on` only where a format has `port %d on`, or in a text that has it. value_test.rs says
//! what that asks of a value, and rows.rs finds the events of a block that have such values.

mod parts;
mod rows;
#[cfg(test)]
mod tests;
mod value_test;

use std::borrow::Cow;
use std::cmp::Reverse;

use timeline::{Definition, Syntax};
use timeline_archive::ShapeValues;

use self::parts::{TextPart, ValueText, parts};
use self::value_test::{Exactly, How, ValueTest};
use super::Needle;

#[cfg(test)]
use self::parts::TextColumn;
pub use self::rows::Rows;
#[cfg(test)]
use self::value_test::EventValue;

/// Most ways in which a text may stand in a message. If there are more, the message itself tells.
const MOST: usize = 64;
/// Most parts that are looked at for them.
const MOST_STEPS: usize = 1 << 14;

/// What texts say about the values of events that have them in the same form.
#[derive(Debug)]
pub enum TextPlan<'q> {
    /// No message has all texts.
    Never,
    /// Only the message itself tells.
    Ask,
    /// For each text, the ways in which it may be in the message. One of each must be true.
    If(Vec<Vec<Way<'q>>>),
}

/// What values must be, if a text stands at a place of the message.
type Way<'q> = Vec<ValueTest<'q>>;

impl<'q> TextPlan<'q> {
    pub fn new(texts: &'q [Needle], definition: &Definition, values: &ShapeValues) -> TextPlan<'q> {
        let Some(parts) = parts(definition, values) else {
            return TextPlan::Ask;
        };
        let mut all = Vec::new();
        for text in texts {
            match ways(&parts, text, definition.syntax) {
                None => {}
                Some(ways) if ways.is_empty() => return TextPlan::Never,
                Some(ways) => all.push(ways),
            }
        }
        match all.is_empty() {
            true => TextPlan::Ask,
            false => TextPlan::If(all),
        }
    }

    /// Whether a message may have all texts. `held` returns the value at a position.
    #[cfg(test)]
    fn may_be<'v>(&self, held: impl Fn(TextColumn) -> Option<EventValue<'v>>) -> bool {
        let mut buffer = Vec::new();
        let mut is = |wanted: &ValueTest| {
            let held = held(wanted.told);
            held.is_none_or(|held| wanted.is(held, &mut buffer))
        };
        match self {
            TextPlan::Never => false,
            TextPlan::Ask => true,
            TextPlan::If(all) => all
                .iter()
                .all(|ways| ways.iter().any(|way| way.iter().all(&mut is))),
        }
    }
}

/// The ways in which a text may be in a message; none if it cannot. `None` if it may be whatever
/// the values are, or if only the message tells.
fn ways<'q>(parts: &[TextPart], needle: &'q Needle, syntax: Syntax) -> Option<Vec<Way<'q>>> {
    let text = needle.as_text().filter(|text| !text.is_empty())?;
    // By these a text is shown that was cut, or is no UTF-8.
    if syntax == Syntax::Printf && text.contains(['\u{2026}', char::REPLACEMENT_CHARACTER]) {
        return None;
    }
    let folded;
    let (parts, text) = match needle.is_insensitive() {
        // Letters beyond ASCII may have the same small letter.
        true if !text.is_ascii() => return None,
        true => {
            folded = parts.iter().map(fold).collect::<Vec<_>>();
            (&folded[..], text.to_ascii_lowercase())
        }
        false => (parts, text.to_owned()),
    };
    let text = text.as_bytes();
    let mut search = Search {
        parts,
        needle,
        ways: Vec::new(),
        steps: MOST_STEPS,
    };
    for (number, part) in parts.iter().enumerate() {
        match part {
            TextPart::Text(from) => {
                (0..from.len()).for_each(|at| search.from((number, at), text, &mut Way::new()));
            }
            TextPart::Value(shown) => search.beginning_within(number, shown, text),
        }
        let is_any = search.ways.iter().any(Vec::is_empty);
        if is_any || search.ways.len() > MOST || search.steps == 0 {
            return None;
        }
    }
    // The rarest first, because others are not looked at where it is missing.
    for way in &mut search.ways {
        way.sort_by_key(|wanted| Reverse(wanted.length()));
    }
    Some(search.ways)
}

/// A part with small letters for all that have one in ASCII.
fn fold<'t>(part: &TextPart<'t>) -> TextPart<'t> {
    match part {
        TextPart::Text(text) => {
            // These two have one as well: the sign of Kelvin, and the long s.
            let text = String::from_utf8_lossy(text);
            let text = text.replace('\u{212a}', "k").replace('\u{17f}', "s");
            TextPart::Text(Cow::Owned(text.to_ascii_lowercase().into_bytes()))
        }
        TextPart::Value(shown) => TextPart::Value(Box::new(ValueText {
            bytes: shown.bytes.folded(),
            told: shown.told,
        })),
    }
}

/// Looks for a text in the parts of a message.
struct Search<'p, 'q> {
    parts: &'p [TextPart<'p>],
    needle: &'q Needle,
    ways: Vec<Way<'q>>,
    /// How many more parts are looked at.
    steps: usize,
}

impl<'q> Search<'_, 'q> {
    /// Adds the ways in which a text begins within a value.
    fn beginning_within(&mut self, number: usize, shown: &ValueText, text: &[u8]) {
        let like = |how, text: &[u8]| {
            let told = shown.told.into_iter();
            told.map(|told| ValueTest::like(told, how, text, self.needle))
                .collect::<Way>()
        };
        let run = shown.bytes.run(text);
        if run == text.len() {
            self.ways.push(like(How::Has, text));
        }
        for count in 1..=run.min(text.len() - 1) {
            let mut way = like(How::Ends, &text[..count]);
            self.from((number + 1, 0), &text[count..], &mut way);
        }
    }

    /// Adds the ways in which the rest of a text stands at a place of a part. `way` has what the
    /// values before it must be.
    fn from(&mut self, (number, at): (usize, usize), rest: &[u8], way: &mut Way<'q>) {
        if rest.is_empty() {
            self.ways.push(way.clone());
            return;
        }
        self.steps = self.steps.saturating_sub(1);
        let is_left = self.steps > 0 && self.ways.len() <= MOST;
        let Some(part) = self.parts.get(number).filter(|_| is_left) else {
            return;
        };
        let shown = match part {
            TextPart::Text(text) => {
                let text = &text[at..];
                let count = text.len().min(rest.len());
                if text[..count] == rest[..count] {
                    self.from((number + 1, 0), &rest[count..], way);
                }
                return;
            }
            TextPart::Value(shown) => shown,
        };
        let run = shown.bytes.run(rest);
        if run == rest.len() {
            let wanted = shown
                .told
                .map(|told| ValueTest::like(told, How::Begins, rest, self.needle));
            self.with(wanted, (number + 1, &[]), way);
            if shown.told.is_none() {
                return;
            }
        }
        for count in 0..=run.min(rest.len() - 1) {
            let (text, rest) = rest.split_at(count);
            let told = shown
                .told
                .map(|told| ValueTest::exactly(told, text, self.needle));
            match told {
                Some(Exactly::Never) => {}
                None | Some(Exactly::Perhaps) => self.with(None, (number + 1, rest), way),
                Some(Exactly::Only(wanted)) => self.with(Some(wanted), (number + 1, rest), way),
            }
        }
    }

    /// Goes on behind a value that must be `wanted`.
    fn with(
        &mut self,
        wanted: Option<ValueTest<'q>>,
        (number, rest): (usize, &[u8]),
        way: &mut Way<'q>,
    ) {
        let count = way.len();
        way.extend(wanted);
        self.from((number, 0), rest, way);
        way.truncate(count);
    }
}
