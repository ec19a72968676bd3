//! The arguments of a statement: a list of any length, whose types are known before its values.

use std::marker::PhantomData;

use super::argument::Argument;
use super::payload::Payload;
use crate::event::{EventId, FieldType};
use crate::layout::{MAX_ARGUMENTS, MAX_FIELDS, MAX_PAYLOAD_WORDS};
use crate::timeline::Timeline;

/// A list of arguments: `(&a, (&b, ()))`.
pub trait List {
    /// How many they are.
    const COUNT: usize;
    /// Whether all are numbers.
    const NUMBERS: bool;

    /// Their types.
    fn types() -> Vec<FieldType<'static>>;

    /// Stores their words, from `at` on.
    fn store(&self, at: usize, payload: &mut Payload);
}

impl List for () {
    const COUNT: usize = 0;
    const NUMBERS: bool = true;

    fn types() -> Vec<FieldType<'static>> {
        Vec::new()
    }

    #[inline(always)]
    fn store(&self, _: usize, _: &mut Payload) {}
}

impl<A: Argument, L: List> List for (&A, L) {
    const COUNT: usize = 1 + L::COUNT;
    const NUMBERS: bool = A::IS_NUMBER && L::NUMBERS;

    fn types() -> Vec<FieldType<'static>> {
        let mut types = vec![A::TYPE];
        types.extend(L::types());
        types
    }

    #[inline(always)]
    fn store(&self, at: usize, payload: &mut Payload) {
        let word = self.0.store(payload);
        payload.put(at, word);
        self.1.store(at + 1, payload);
    }
}

/// The types of a list, without its values.
pub struct Arguments<A>(PhantomData<A>);

impl<A> Clone for Arguments<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Arguments<A> {}

impl<A> Default for Arguments<A> {
    fn default() -> Self {
        Arguments(PhantomData)
    }
}

impl<A> Arguments<A> {
    /// Those of the list that is logged later.
    #[inline(always)]
    pub fn new() -> Arguments<A> {
        Arguments::default()
    }
}

impl<A: List> Arguments<A> {
    /// Logs the words: as arguments if they are numbers and there are at most four, else as a
    /// payload.
    #[inline(always)]
    pub fn log(self, timeline: &Timeline, event: EventId, values: A) {
        if A::NUMBERS && A::COUNT <= MAX_ARGUMENTS {
            let mut words = [0; MAX_ARGUMENTS];
            values.store(0, &mut Payload::new(&mut words, A::COUNT));
            timeline.log(event, words.map(|word| word as i64));
        } else if A::NUMBERS {
            log_payload(timeline, event, &values, &mut [0; MAX_FIELDS]);
        } else {
            log_payload(timeline, event, &values, &mut [0; MAX_PAYLOAD_WORDS]);
        }
    }
}

#[inline(always)]
fn log_payload<A: List>(timeline: &Timeline, event: EventId, values: &A, words: &mut [u64]) {
    let most = words.len().min(timeline.payload_capacity());
    let mut payload = Payload::new(&mut words[..most], A::COUNT);
    values.store(0, &mut payload);
    let end = payload.end();
    timeline.log_payload(event, &words[..end], false);
}
