//! Units, the parts of an archive that are read at once, and the events in them.
//!
//! unit.rs is such a part. unpack.rs reads the events of a block: stored_values.rs reads values as
//! their shapes say, and skip.rs passes over events that nobody wants. They are made in one of the
//! forms of form.rs, of which ordered.rs has that of a ring's events. important_numbers.rs knows
//! the important events that came already.

pub(crate) mod form;
pub(crate) mod important_numbers;
pub(crate) mod ordered;
pub(crate) mod skip;
pub(crate) mod stored_values;
pub(crate) mod unit;
pub(crate) mod unpack;
