//! Statements in a function of their own: with the feature `off` it is like the empty one.

#![crate_type = "lib"]

use timeline::{Event, EventId, Priority, SpanEvents, Timeline, async_span, event, span};

#[derive(Event)]
#[event(category = "gone", message = "the struct {number} {text}")]
struct Gone<'a> {
    number: i32,
    text: &'a str,
}

unsafe extern "Rust" {
    safe fn find_timeline() -> &'static Timeline;
    safe fn find_priority() -> Priority;
    safe fn find_number(number: i32) -> i32;
    safe fn find_text() -> Option<&'static str>;
}

#[unsafe(no_mangle)]
pub fn empty() -> Option<()> {
    Some(())
}

#[unsafe(no_mangle)]
pub fn statements(number: i32, ratio: f64, list: &[u16]) -> Option<()> {
    event!(
        find_timeline(),
        find_priority(),
        "gone",
        "the numbers {number} and {ratio}",
        number = find_number(number),
        ratio
    );
    // An argument may leave its function.
    event!(
        find_timeline(),
        find_priority(),
        "gone",
        "the text {text} and {list}",
        text = find_text()?,
        list
    );
    Some(())
}

#[unsafe(no_mangle)]
pub fn structure(number: i32, text: &str, timeline: &Timeline) -> Option<()> {
    Gone { number, text }.log(timeline);
    Some(())
}

#[unsafe(no_mangle)]
pub fn call(timeline: &Timeline, event: EventId, number: i64) -> Option<()> {
    timeline.log(event, [number]);
    Some(())
}

#[unsafe(no_mangle)]
pub fn spans(timeline: &'static Timeline, events: SpanEvents, number: i64) -> Option<()> {
    let _defined = timeline.span(events, [number]);
    let _span = span!(
        find_timeline(),
        find_priority(),
        "gone",
        "the span {number} {text}",
        number = find_number(1),
        text = find_text()?
    );
    let _async_span = async_span!(timeline, Priority::Info, "gone", "the job {number}", number);
    Some(())
}
