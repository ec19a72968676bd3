//! Small changes to inputs, the same in every run: some of what a fuzzer tries first.

use crate::support::Random;

/// Bytes that mean something somewhere: marks, lengths and edges.
const TELLING: [u8; 16] = [
    0, 1, 16, 17, 0x7f, 0x80, 0xa0, 0xc1, 0xce, 0xcf, 0xda, 0xdb, 0xdc, 0xdf, 0xfe, 0xff,
];

/// Makes inputs of others.
pub struct Mutator {
    inputs: Vec<Vec<u8>>,
    random: Random,
}

impl Mutator {
    /// Of these.
    pub fn new(inputs: Vec<Vec<u8>>) -> Mutator {
        let random = Random(1);
        Mutator { inputs, random }
    }

    fn below(&mut self, limit: usize) -> usize {
        self.random.below(limit.max(1) as u64) as usize
    }

    /// The next one: one of the others after up to four changes.
    pub fn next(&mut self) -> Vec<u8> {
        let which = self.below(self.inputs.len());
        let mut input = self.inputs[which].clone();
        for _ in 0..=self.below(4) {
            self.change(&mut input);
        }
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(24)).min(input.len());
        let byte = TELLING[self.below(TELLING.len())];
        match self.below(8) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..end)),
            2 => input.insert(at, byte),
            3 => {
                let copied = input[at..end].to_vec();
                let to = self.below(input.len() + 1);
                input.splice(to..to, copied);
            }
            4 => {
                let other = self.below(self.inputs.len());
                let from = self.below(self.inputs[other].len() + 1);
                input.truncate(at);
                input.extend_from_slice(&self.inputs[other][from..]);
            }
            5 => {
                let bit = 1 << self.below(8);
                input.iter_mut().skip(at).take(1).for_each(|b| *b ^= bit);
            }
            6 => input.iter_mut().skip(at).take(8).for_each(|b| *b = byte),
            _ => input.iter_mut().skip(at).take(1).for_each(|b| *b = byte),
        }
    }
}
