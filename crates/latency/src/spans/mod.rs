//! Finds durations in a stream of events: of pairs of events, since the event before, or as a value.
