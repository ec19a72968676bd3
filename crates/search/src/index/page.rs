//! Pages: runs of events as a unit of the archive stores them, each with its lines and times.

use std::ops::Range;

use timeline_archive::varint::{NumberReader, put, put_difference, signed};

/// Most events of a page.
pub const MOST_EVENTS: usize = 512;

/// A run of events of a unit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// Where the unit begins in its file.
    pub unit: u64,
    /// The place of its first event in the unit.
    pub first: u32,
    /// How many events it has.
    pub events: u32,
    /// How many lines these have.
    pub lines: u64,
    /// The least and the most ticks.
    pub ticks: (u64, u64),
    /// The least and the most time, in nanoseconds since 1970.
    pub time: (u64, u64),
}

impl Page {
    /// The places of its events in the unit.
    pub fn places(&self) -> Range<usize> {
        self.first as usize..(self.first + self.events) as usize
    }
}

/// Appends pages.
pub fn encode(pages: &[Page], out: &mut Vec<u8>) {
    let mut before = Page::default();
    for page in pages {
        put(out, page.unit - before.unit);
        put(out, page.events.into());
        put(out, page.lines - u64::from(page.events));
        for ((low, high), (low_before, _)) in [(page.ticks, before.ticks), (page.time, before.time)]
        {
            put_difference(out, low, low_before);
            put(out, high - low);
        }
        before = page.clone();
    }
}

/// Where the unit of the first of these pages begins. `None` if they are damaged.
pub fn first_unit(bytes: &[u8]) -> Option<u64> {
    NumberReader(bytes).get()
}

/// Reads so many pages. `None` if they are damaged.
pub fn decode(bytes: &[u8], count: u16) -> Option<Vec<Page>> {
    // Each takes seven bytes at least.
    let mut pages = Vec::with_capacity(usize::from(count).min(bytes.len() / 7));
    let (mut input, mut page) = (NumberReader(bytes), Page::default());
    for number in 0..count {
        let unit = page.unit.checked_add(input.get()?)?;
        let is_new = number == 0 || unit != page.unit;
        let first = match is_new {
            true => 0,
            false => page.first.checked_add(page.events)?,
        };
        // Most numbers but that of the unit have several bytes.
        let events = u32::try_from(input.get_any()?).ok()?;
        first.checked_add(events)?;
        let lines = input.get()?.checked_add(events.into())?;
        let mut range = |before: u64| {
            let low = before.wrapping_add(signed(input.get_any()?));
            Some((low, low.checked_add(input.get_any()?)?))
        };
        let ticks = range(page.ticks.0)?;
        let time = range(page.time.0)?;
        page = Page {
            unit,
            first,
            events,
            lines,
            ticks,
            time,
        };
        pages.push(page.clone());
    }
    input.0.is_empty().then_some(pages)
}
