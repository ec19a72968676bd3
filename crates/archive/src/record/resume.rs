//! Reads a file that an earlier recorder wrote.
//! It finds the runs, how far each of them is recorded, and where the last whole frame ends.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::format::event::SingleEvent;
use crate::format::frame::{MAGIC, Part};
use crate::format::preamble::Preamble;
use crate::format::record::{Record, decode};
use crate::read::file::bytes::{FRAME, WINDOW, scan};
use crate::write::writer::FileDictionary;

/// The contents of a file, as far as a recorder needs them to continue it.
#[derive(Default)]
pub struct ResumeState {
    /// The runs with a preamble in the file.
    pub runs: Vec<Preamble>,
    /// The strings and addresses that are defined, by magic.
    pub known: HashMap<u64, FileDictionary>,
    /// The lanes, and the number of the next event of each, by magic.
    pub positions: HashMap<u64, BTreeMap<u64, u64>>,
    /// The lanes with a gap record, and the number of the event after the last gap, by magic.
    pub gaps: HashMap<u64, BTreeMap<u64, u64>>,
    /// The numbers of the important events, by magic.
    pub important: HashMap<u64, BTreeSet<u64>>,
    /// The number of whole frames.
    pub frames: u64,
    /// The end of the last whole frame.
    pub end: u64,
    /// Whether the file begins like an archive.
    begins: bool,
    size: u64,
    /// Room for an event, used again.
    single: SingleEvent,
}

/// How far a run is recorded, for a recorder that goes on with it elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunState {
    /// The lanes, and the number of the next event of each.
    pub positions: Vec<(u64, u64)>,
    /// The lanes that have a gap, and the number of the event behind the last one.
    pub gaps: Vec<(u64, u64)>,
    /// The numbers of the important events that are recorded.
    pub important: Vec<u64>,
}

impl ResumeState {
    /// Of a file that is still empty.
    pub fn nothing() -> ResumeState {
        ResumeState {
            begins: true,
            ..ResumeState::default()
        }
    }

    /// Of a run that is recorded up to this state.
    pub fn of_run(run: Preamble, state: RunState) -> ResumeState {
        let magic = run.magic.unwrap_or(0);
        ResumeState {
            runs: vec![run],
            positions: HashMap::from([(magic, state.positions.into_iter().collect())]),
            gaps: HashMap::from([(magic, state.gaps.into_iter().collect())]),
            important: HashMap::from([(magic, state.important.into_iter().collect())]),
            // More than one: a preamble alone would be nothing yet.
            frames: 2,
            begins: true,
            ..ResumeState::default()
        }
    }

    /// How far a run is recorded, if anything of it is.
    pub fn state_of(&self, magic: u64) -> Option<RunState> {
        fn pairs(all: Option<&BTreeMap<u64, u64>>) -> Vec<(u64, u64)> {
            let pairs = all.into_iter().flatten();
            pairs.map(|(lane, number)| (*lane, *number)).collect()
        }
        let positions = self.positions.get(&magic);
        let important = self.important.get(&magic).into_iter().flatten();
        let state = RunState {
            positions: pairs(positions),
            gaps: pairs(self.gaps.get(&magic)),
            important: important.copied().collect(),
        };
        let is_known = positions.is_some() || !state.important.is_empty();
        is_known.then_some(state)
    }

    /// Reads a file, of any size.
    pub fn read(file: &File) -> io::Result<ResumeState> {
        ResumeState::read_by(file, WINDOW, FRAME)
    }

    fn read_by(file: &File, window: usize, frame: usize) -> io::Result<ResumeState> {
        let size = file.metadata()?.len();
        let mut beginning = vec![0; size.min(MAGIC.len() as u64) as usize];
        file.read_exact_at(&mut beginning, 0)?;
        let mut found = ResumeState {
            begins: MAGIC.starts_with(&beginning),
            size,
            ..ResumeState::default()
        };
        scan(file, 0..size as usize, (window, frame), |part| {
            if let Part::Frame { place, record, .. } = part {
                found.frames += 1;
                found.end = place.end as u64;
                found.take(record);
            }
        })?;
        Ok(found)
    }

    fn take(&mut self, record: &[u8]) {
        let (magic, positions) = match decode(record, &mut self.single) {
            Some(Record::Preamble(preamble)) => return self.runs.push(preamble),
            Some(Record::String(string)) => {
                let known = self.known.entry(string.magic.unwrap_or(0)).or_default();
                known.strings.extend(string.id);
                return;
            }
            Some(Record::Symbol(symbol)) => {
                let known = self.known.entry(symbol.magic.unwrap_or(0)).or_default();
                let address = symbol.address.map(|address| (symbol.pid, address));
                known.addresses.extend(address);
                return;
            }
            Some(Record::Process(process)) => {
                let known = self.known.entry(process.magic.unwrap_or(0)).or_default();
                known.process(&process);
                return;
            }
            Some(Record::Module(module)) => {
                let known = self.known.entry(module.magic.unwrap_or(0)).or_default();
                known.modules.extend(module.module);
                return;
            }
            Some(Record::Event) => return self.take_event(),
            Some(Record::Block(block)) => (block.magic, block.positions),
            Some(Record::Missed(missed)) => {
                if let Some((lane, number, _)) = missed.gap() {
                    let gaps = self.gaps.entry(missed.magic.unwrap_or(0)).or_default();
                    gaps.insert(lane, number);
                }
                (missed.magic, missed.positions)
            }
            _ => return,
        };
        self.reach(magic.unwrap_or(0), positions);
    }

    fn take_event(&mut self) {
        let magic = self.single.magic();
        match self.single.important() {
            Some(number) => {
                self.important.entry(magic).or_default().insert(number);
            }
            None => self.reach(magic, self.single.position_behind()),
        }
    }

    /// Notes how far a run is recorded.
    pub fn reach(&mut self, magic: u64, positions: impl IntoIterator<Item = (u64, u64)>) {
        let lanes = self.positions.entry(magic).or_default();
        for (lane, next) in positions {
            let position = lanes.entry(lane).or_default();
            *position = next.max(*position);
        }
    }

    /// Whether a recorder has written nothing of use yet: it was killed during its first frame, or
    /// before.
    pub fn is_nothing_yet(&self) -> bool {
        let torn = self.frames == 0 && self.begins && self.size < 1 << 16;
        // A preamble alone does not say where the events begin in each lane.
        torn || (self.frames == 1 && self.runs.len() == 1)
    }

    /// Whether the file holds something else than an archive.
    pub fn is_foreign(&self) -> bool {
        self.frames == 0 && !self.is_nothing_yet()
    }

    /// Adds the contents of an older file of the same archive. Its strings are not added, because
    /// they are defined only in that file.
    pub fn add_older(&mut self, mut older: ResumeState) {
        // The oldest run first, as in a file.
        older.runs.append(&mut self.runs);
        self.runs = older.runs;
        self.frames += older.frames;
        for (magic, positions) in older.positions {
            self.reach(magic, positions);
        }
        for (magic, older) in older.important {
            self.important.entry(magic).or_default().extend(older);
        }
        for (magic, older) in older.gaps {
            let gaps = self.gaps.entry(magic).or_default();
            for (lane, number) in older {
                let last = gaps.entry(lane).or_default();
                *last = number.max(*last);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::event::RawEvent;
    use crate::write::writer::{Form, Writer};

    fn file(content: &[u8]) -> File {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(content, 0).unwrap();
        file
    }

    fn sample() -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, 7, Form::Plain);
        for number in 0..200 {
            let mut data = RawEvent {
                lane: Some(number % 3),
                number: Some(number / 3),
                ..RawEvent::default()
            };
            data.definition.format = Some(writer.string(&"text ".repeat(number as usize)));
            writer.event(&data).unwrap();
        }
        writer.flush().unwrap();
        out
    }

    #[test]
    fn a_file_read_piece_by_piece_is_read_as_a_whole() {
        let mut content = sample();
        // Damage of every kind of length, and a torn end.
        for at in [50, 9_000, 9_001, 40_000] {
            content[at] ^= 0x55;
        }
        content.splice(20_000..20_000, std::iter::repeat_n(0xc1, 5_000));
        content.truncate(content.len() - 7);
        let whole = ResumeState::read(&file(&content)).unwrap();
        assert!(whole.frames > 300 && whole.end < content.len() as u64);
        for window in [2_500, 4_096, 50_000] {
            let pieces = ResumeState::read_by(&file(&content), window, 1_200).unwrap();
            assert_eq!(
                (pieces.frames, pieces.end, &pieces.positions, &pieces.known),
                (whole.frames, whole.end, &whole.positions, &whole.known),
                "{window}"
            );
        }
    }

    #[test]
    fn nothing_yet_is_told_from_something_else() {
        let found = |content: &[u8]| ResumeState::read(&file(content)).unwrap();
        let whole = sample();
        for nothing in [&b""[..], &whole[..1], &whole[..9]] {
            assert!(found(nothing).is_nothing_yet() && !found(nothing).is_foreign());
        }
        assert!(found(b"my diary").is_foreign());
        assert!(!found(&whole).is_nothing_yet() && !found(&whole).is_foreign());
    }
}
