//! Events that can be checked.

use timeline::{Attached, Event, EventId, Interned, Priority, Timeline};

/// The event that all these tests log: who, the how many-th, and two words that only they give.
pub fn define(timeline: &Timeline) -> EventId {
    timeline
        .define("core", Priority::Info, "step $who $number $mixed $turned")
        .expect("defined")
}

/// Arguments that a torn entry would not have.
pub fn arguments(who: i64, number: i64) -> [i64; 4] {
    let mixed = who
        .wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)
        .wrapping_add(number)
        .wrapping_mul(0x2545_f491_4f6c_dd1d);
    [who, number, mixed, (who ^ !number).rotate_left(17)]
}

/// How a test logs its events.
#[derive(Clone, Copy)]
pub enum Way {
    /// In one entry each.
    Plain(EventId),
    /// With a text, in one to three entries.
    Typed,
    /// With a text that is interned.
    Interned,
}

#[derive(timeline::Event)]
#[event(category = "core")]
struct Step<'a> {
    who: i64,
    number: i64,
    mixed: i64,
    turned: i64,
    text: &'a str,
}

#[derive(timeline::Event)]
#[event(category = "core")]
struct Named<'a> {
    who: i64,
    number: i64,
    mixed: i64,
    turned: i64,
    name: Interned<'a>,
}

impl Way {
    /// Defines the event, so that nothing needs a lock later.
    pub fn define(typed: bool, timeline: &Timeline) -> Way {
        match typed {
            true => Step::define(timeline).map(|_| Way::Typed).expect("defined"),
            false => Way::Plain(define(timeline)),
        }
    }

    /// The way of this name.
    pub fn named(name: &str, timeline: &Timeline) -> Way {
        let named = || Named::define(timeline).expect("defined");
        match name {
            "interned" => (named(), Way::Interned).1,
            name => Way::define(name == "typed", timeline),
        }
    }

    pub fn log(self, timeline: &Timeline, who: i64, number: i64) {
        let [who, number, mixed, turned] = arguments(who, number);
        match self {
            Way::Plain(event) => timeline.log(event, [who, number, mixed, turned]),
            Way::Typed => Step {
                who,
                number,
                mixed,
                turned,
                text: text(number),
            }
            .log(timeline),
            Way::Interned => Named {
                who,
                number,
                mixed,
                turned,
                name: Interned(text(number)),
            }
            .log(timeline),
        }
    }
}

/// The text of an event of that number: none, or up to 12 words.
fn text(number: i64) -> &'static str {
    const TEXT: &str = "a text of ninety-one bytes, which with four numbers takes one to three \
                        entries of sixty-four";
    &TEXT[..number.unsigned_abs() as usize * 7 % TEXT.len()]
}

/// The arguments in the payload of a typed event; fails on a torn one.
pub fn unpacked(values: &[u8]) -> [i64; 4] {
    let word = |at: usize| i64::from_le_bytes(*values[8 * at..].first_chunk().expect("a word"));
    let args = [word(0), word(1), word(2), word(3)];
    let text = text(args[1]);
    // An interned text stands where its word says.
    let (length, at) = match word(4) as u64 {
        word if word >> 61 == 1 => (word as u32, (word >> 32 & 0x1fff_ffff) as usize * 8),
        word => (word as u32, 40),
    };
    let whole = length as usize == text.len() && values[at..].starts_with(text.as_bytes());
    assert!(whole, "torn: {values:x?}");
    args
}

/// Who logged this event and the how many-th of theirs it is; fails on a torn one.
pub fn checked(event: &Event) -> (i64, i64) {
    let args = match &event.payload {
        None => event.args,
        Some(payload) => unpacked(&payload.values),
    };
    let [who, number, ..] = args;
    assert_eq!(args, arguments(who, number), "torn: {event:x?}");
    assert!(
        event.ticks != 0 && event.tid != 0 && event.id.0 != 0,
        "half an entry: {event:x?}"
    );
    (who, number)
}

/// Attaches, or says why not.
pub fn attach(path: &str) -> Attached {
    Attached::open(path).unwrap_or_else(|e| panic!("{e}"))
}

/// Numbers that differ from run to run only in where the machine is interrupted.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
