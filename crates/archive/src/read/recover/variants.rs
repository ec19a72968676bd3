//! Makes of a text of a program what the library makes of it.
//! A message gets types of its arguments, and words of a span; channels get the order of the ring.

use super::lost_texts::LostTexts;
use super::types::{self, TypeTemplate};

/// The words in front of the messages of a span, as `timeline` defines them.
const SPANS: [&str; 4] = ["begin", "end", "start", "finish"];
/// Most channels of a statement whose orders are tried.
const MOST_CHANNELS: usize = 5;

/// Tries what the library makes of a text, but for spans: at most so many lists of types.
pub fn try_all(text: &str, most: u64, wanted: &mut LostTexts, budget: &mut u64) {
    with_types(text, most, wanted, budget);
    if wanted.channels {
        channels(text, wanted);
    }
}

/// Tries the messages of a span with this text.
pub fn try_spans(text: &str, most: u64, wanted: &mut LostTexts, budget: &mut u64) {
    if !wanted.wants_messages() {
        return;
    }
    for word in SPANS {
        let message = format!("{word} {text}");
        wanted.try_text(&message);
        with_types(&message, most, wanted, budget);
    }
}

/// Tries types for the arguments of a message.
fn with_types(message: &str, most: u64, wanted: &mut LostTexts, budget: &mut u64) {
    if !wanted.wants_messages() || !message.contains(['$', '{', '}']) {
        return;
    }
    let templates = [TypeTemplate::of_c(message), TypeTemplate::of_rust(message)];
    for template in templates.iter().flatten() {
        types::try_all(template, most, wanted, budget);
    }
}

/// Tries the channels of a statement, `a|b=on`, in each order and without what is switched.
fn channels(text: &str, wanted: &mut LostTexts) {
    let names = text.split('|');
    let names: Vec<&str> = names
        .map(|name| name.strip_suffix("=on").unwrap_or(name))
        .collect();
    let is_name = |name: &&str| {
        let is_good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        (1..=32).contains(&name.len()) && name.chars().all(is_good)
    };
    if names.len() <= MOST_CHANNELS && names.iter().all(is_name) {
        orders(&names, &mut Vec::new(), wanted);
    }
}

fn orders<'a>(left: &[&'a str], chosen: &mut Vec<&'a str>, wanted: &mut LostTexts) {
    if left.is_empty() {
        return wanted.try_text(&chosen.join("|"));
    }
    for at in 0..left.len() {
        let mut left = left.to_vec();
        chosen.push(left.remove(at));
        orders(&left, chosen, wanted);
        chosen.pop();
    }
}
