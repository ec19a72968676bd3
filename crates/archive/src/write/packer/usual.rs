//! Packs events as most are, as [`Packer::push`] does, without comparing what they say and who says it.

use super::Packer;
use crate::format::block::{
    CORE, HAS_CORE, HAS_LANE, HAS_NUMBER, HAS_TICKS, HAS_TIME, KIND, LANE, NUMBER, SOURCE, TICKS,
};
use crate::format::varint::{put, put_difference};
use crate::write::usual::{By, Row, Said, Usual};

/// What stands there of each.
const HAS: u64 = HAS_TICKS | HAS_TIME | HAS_CORE | HAS_LANE | HAS_NUMBER;

impl Packer {
    /// Adds an event, as [`Packer::push`] does.
    #[inline]
    pub fn push_usual(&mut self, event: &Usual, said: &mut Said, by: &mut By) {
        let block = self.block;
        if said.row.block != block {
            let place = self.shape_of(&said.kind, HAS, 0, said.args, false);
            said.row = Row { block, place };
        }
        if by.row.block != block {
            let place = self.source(&by.source);
            by.row = Row { block, place };
        }
        let (columns, last) = (&mut self.columns, &mut self.last);
        put(&mut columns[KIND], said.row.place as u64);
        put(&mut columns[SOURCE], by.row.place as u64);
        let before = match self.first {
            Some(_) => last.ticks,
            None => *self.first.insert(event.ticks),
        };
        put_difference(&mut columns[TICKS], event.ticks, before);
        last.ticks = event.ticks;
        self.times.push((Some(event.ticks), event.unix_nanos));
        put_difference(&mut columns[CORE], event.core, last.core);
        last.core = event.core;
        put(&mut columns[LANE], event.lane);
        let next = last.next_number(Some(event.lane));
        put_difference(&mut columns[NUMBER], event.number, *next);
        *next = event.number.wrapping_add(1);
        let before = &mut last.args[said.row.place];
        for ((arg, before), column) in event.args.iter().zip(before).zip(&mut self.args) {
            put_difference(column, *arg as u64, *before as u64);
            *before = *arg;
        }
    }
}
