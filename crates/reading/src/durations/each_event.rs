//! Gives the events of an archive that play a part in durations, with what they end.

use timeline::{Event, Order};
use timeline_archive::Archive;
use timeline_latency::{Matcher, Measurement};

use super::edges::EdgeSelect;
use super::request::DurationRequest;

/// Adds the events of an archive to a matcher, and has `each` take those that play a part, the
/// oldest first, each with the wanted durations that it ends, until it returns false. It takes
/// longer than [`each_duration`](super::each_duration), which makes few events.
pub fn each_event(
    archive: &Archive,
    matcher: &mut Matcher<'_>,
    wanted: &DurationRequest<'_>,
    mut each: impl FnMut(&Matcher, &Event, &mut Vec<Measurement>) -> bool,
) {
    let measures = matcher.measures();
    let tells = |definition: &_| measures.iter().any(|one| one.concerns(definition));
    let select = EdgeSelect::in_times(archive, wanted.times(), wanted.is_cancelled, tells);
    let (mut filter, mut ended) = (wanted.query.on(archive), Vec::new());
    for event in archive.events_by_time_where(Order::OldestFirst, Box::new(select)) {
        if (wanted.is_cancelled)() {
            return;
        }
        matcher.add(&event, |found| {
            if filter.matches(&event) {
                ended.push(found);
            }
        });
        if !each(matcher, &event, &mut ended) {
            return;
        }
        ended.clear();
    }
}
