//! The arguments of a statement: a list of any length, whose types are known before its values.

use std::marker::PhantomData;

use super::argument::Argument;
use super::payload::PayloadBuilder;
use super::types::Types;
use crate::event::Definition;
use crate::layout::{MAX_ARGUMENTS, MAX_PAYLOAD_WORDS, PAYLOAD_WORDS};
use crate::ring::log::EnabledEvent;
use crate::timeline::Timeline;

/// A list of arguments: `(&a, (&b, ()))`.
pub trait ArgumentList: Types {
    /// Whether all are numbers.
    const NUMBERS: bool;
    /// Whether there is a text to be interned.
    const INTERNED: bool;

    /// How many words the bytes of texts and arrays take.
    fn behind(&self) -> usize;

    /// Stores their words, from `at` on.
    fn store(&self, at: usize, payload: &mut PayloadBuilder);
}

impl ArgumentList for () {
    const NUMBERS: bool = true;
    const INTERNED: bool = false;

    #[inline(always)]
    fn behind(&self) -> usize {
        0
    }

    #[inline(always)]
    fn store(&self, _: usize, _: &mut PayloadBuilder) {}
}

impl<A: Argument + ?Sized, L: ArgumentList> ArgumentList for (&A, L) {
    const NUMBERS: bool = A::IS_NUMBER && L::NUMBERS;
    const INTERNED: bool = A::IS_INTERNED || L::INTERNED;

    #[inline(always)]
    fn behind(&self) -> usize {
        self.0.behind() + self.1.behind()
    }

    #[inline(always)]
    fn store(&self, at: usize, payload: &mut PayloadBuilder) {
        let word = self.0.store(payload);
        if A::IS_INTERNED {
            payload.note(at, word);
        }
        payload.put(at, word);
        self.1.store(at + 1, payload);
    }
}

/// The types of a list, without its values, and how their statement finds its site.
pub struct Arguments<A, F>(PhantomData<(A, F)>);

impl<A, F> Clone for Arguments<A, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, F> Copy for Arguments<A, F> {}

impl<A, F> Default for Arguments<A, F> {
    fn default() -> Self {
        Arguments(PhantomData)
    }
}

impl<A, F> Arguments<A, F> {
    /// Those of the list that is logged later.
    #[inline(always)]
    pub fn new() -> Arguments<A, F> {
        Arguments::default()
    }

    /// Those of these values.
    #[inline(always)]
    pub fn of(_: &A) -> Arguments<A, F> {
        Arguments::default()
    }

    /// Fails to compile unless a message of so many bytes can be defined with these types.
    /// tests/rust/too_long.rs has what does not.
    #[inline(always)]
    pub fn fits<const LENGTH: usize>(self)
    where
        A: Types,
    {
        const {
            assert!(
                LENGTH + A::LENGTH <= Definition::LONGEST_TEXT,
                "a message has more than 4,096 bytes with the types of its arguments, to which the \
                 names of enums and flags belong: log the number of one with many names"
            );
        }
    }
}

impl<A: ArgumentList, F> Arguments<A, F> {
    /// Logs the words of `N` values: as arguments if they are numbers and there are at most four,
    /// else as a payload. `_` tells how the statement has found the event.
    #[inline(always)]
    pub fn log<const N: usize>(self, timeline: &Timeline, event: EnabledEvent, values: A, _: F) {
        const { assert!(N == A::COUNT) };
        if A::NUMBERS && N <= MAX_ARGUMENTS {
            let mut words = [0; MAX_ARGUMENTS];
            values.store(0, &mut PayloadBuilder::new(&mut words, N));
            timeline.log_enabled(event, words.map(|word| word as i64));
            return;
        }
        // As few words as there may be, because all are set to 0 first.
        let behind = values.behind();
        if A::INTERNED && N + behind < SMALL {
            log_interned::<A, SMALL>(timeline, event, &values);
        } else if A::INTERNED {
            log_interned::<A, MAX_PAYLOAD_WORDS>(timeline, event, &values);
        } else if A::NUMBERS {
            log_payload::<A, N>(timeline, event, &values);
        } else if N + behind <= ONE {
            log_payload::<A, ONE>(timeline, event, &values);
        } else if N + behind <= SMALL {
            log_long::<A, SMALL>(timeline, event, &values);
        } else if N + behind <= MIDDLE {
            log_long::<A, MIDDLE>(timeline, event, &values);
        } else {
            log_long::<A, MAX_PAYLOAD_WORDS>(timeline, event, &values);
        }
    }
}

/// Words of payload in one entry, then with room for the numbers and names that most events have,
/// and for lines.
const ONE: usize = PAYLOAD_WORDS[0];
const SMALL: usize = 16;
const MIDDLE: usize = 64;

/// Apart from the statement, which is shorter without it.
#[inline(never)]
fn log_long<A: ArgumentList, const ROOM: usize>(
    timeline: &Timeline,
    event: EnabledEvent,
    values: &A,
) {
    log_payload::<A, ROOM>(timeline, event, values);
}

#[inline(always)]
fn log_payload<A: ArgumentList, const ROOM: usize>(
    timeline: &Timeline,
    event: EnabledEvent,
    values: &A,
) {
    let mut words = [0; ROOM];
    // So many words have room in every ring.
    let most = match ROOM <= SMALL {
        true => ROOM,
        false => ROOM.min(timeline.payload_capacity()),
    };
    let mut payload = PayloadBuilder::new(&mut words[..most], A::COUNT);
    values.store(0, &mut payload);
    let end = payload.end();
    timeline.log_enabled_payload(event, &words[..end], false);
}

/// Logs words of which some may be interned texts.
#[inline(never)]
fn log_interned<A: ArgumentList, const ROOM: usize>(
    timeline: &Timeline,
    event: EnabledEvent,
    values: &A,
) {
    let mut words = [0; ROOM];
    let most = ROOM.min(timeline.payload_capacity());
    // The first word says which of the others are interned.
    let mut payload = PayloadBuilder::interning(&mut words[1..most], A::COUNT, timeline);
    values.store(0, &mut payload);
    let (end, interned) = (payload.end() + 1, payload.which_are_interned());
    words[0] = interned;
    match interned {
        0 => timeline.log_enabled_payload(event, &words[1..end], false),
        _ => timeline.log_enabled_payload(event, &words[..end], true),
    }
}
