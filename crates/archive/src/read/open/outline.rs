//! Outlines: what opening a file of an archive found, so that it can be opened again at once.
//!
//! An outline lists the units of a file. A later reader passes over these, and scans only the bytes
//! between them, and the frames of other records in them: names, gaps, important events, damage. So
//! it finds what it would find in the whole file. The bytes of a unit are compared with its
//! checksum when they are read.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::error::Result;
use crate::format::varint::{NumberReader, put, put_difference};
use crate::read::file::bytes::Section;
use crate::read::file::stamp::Stamp;
use crate::read::loss::coverage::Coverage;
use crate::read::open::contents::Contents;
use crate::read::texts::names::Names;
use crate::read::units::unit::Unit;

/// What opening a file of an archive found; see [`Archive::open_with`](crate::Archive::open_with).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    stamp: Stamp,
    /// The magics of the events of the file.
    magics: Vec<u64>,
    passed: Vec<Passed>,
    /// What the file accounts for, as [`Coverage`] writes it.
    covered: Vec<u8>,
}

/// A unit whose frames need not be read, at its place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Passed {
    unit: Unit,
    /// The frames of other records in it.
    among: Vec<Range<usize>>,
}

/// The range, moved from all bytes to a file that begins there.
fn in_file(range: &Range<usize>, file: usize) -> Range<usize> {
    range.start - file..range.end - file
}

fn in_all(range: &Range<usize>, file: usize) -> Range<usize> {
    range.start + file..range.end + file
}

impl Outline {
    /// Of a file that has this range of all bytes.
    pub(crate) fn of(
        contents: &Contents,
        file: &Range<usize>,
        (stamp, covered): (Stamp, Vec<u8>),
    ) -> Outline {
        let mut among = contents.among.iter().peekable();
        let units = contents.units.iter();
        let units = units.filter(|unit| file.contains(&unit.place.start) && !unit.important);
        let passed = units.map(|unit| {
            while among
                .next_if(|range| range.start < unit.place.start)
                .is_some()
            {}
            let inner = std::iter::from_fn(|| among.next_if(|range| range.end <= unit.place.end));
            Passed {
                among: inner.map(|range| in_file(range, file.start)).collect(),
                unit: Unit {
                    place: in_file(&unit.place, file.start),
                    gap: None,
                    hint: None,
                    passed: true,
                    ..unit.clone()
                },
            }
        });
        Outline {
            stamp,
            passed: passed.collect(),
            magics: contents.magics_of(file).collect(),
            covered,
        }
    }

    /// Whether the file has not changed since.
    pub(crate) fn is_of(&self, stamp: &Stamp) -> bool {
        self.stamp == *stamp
    }

    /// Takes the contents of the file, of which only the bytes are read that the outline does not
    /// pass over.
    pub(crate) fn replay(
        self,
        section: &Section,
        contents: &mut Contents,
        names: &Names,
    ) -> Result<()> {
        let Range { start: file, end } = section.range();
        let scan = |range: Range<usize>, contents: &mut Contents| match range.is_empty() {
            true => Ok(()),
            false => contents.scan(section, range, names),
        };
        for magic in &self.magics {
            contents.add_magic(*magic);
        }
        contents.units.reserve(self.passed.len());
        let mut at = file;
        for Passed { mut unit, among } in self.passed {
            unit.place = in_all(&unit.place, file);
            let frames = unit.frames();
            scan(at..frames.start, contents)?;
            at = frames.end;
            contents.pass(unit);
            for range in among {
                scan(in_all(&range, file), contents)?;
            }
            contents.end_passed();
        }
        scan(at..end, contents)?;
        // What was read again is among it.
        let covered = Coverage::decode(&mut NumberReader(&self.covered), section.range().len());
        contents.of_file = covered.unwrap_or_default();
        Ok(())
    }

    /// Appends its bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.stamp.encode(out);
        put(out, self.magics.len() as u64);
        self.magics.iter().for_each(|magic| put(out, *magic));
        put(out, self.passed.len() as u64);
        let mut at = Before::default();
        for Passed { unit, among } in &self.passed {
            at.put(unit, out);
            put(out, among.len() as u64);
            let mut end = unit.place.start;
            for range in among {
                put_range(out, &mut end, range);
            }
        }
        out.extend_from_slice(&self.covered);
    }

    /// An outline of these bytes. `None` if they are none.
    pub fn decode(bytes: &[u8]) -> Option<Outline> {
        let mut input = NumberReader(bytes);
        let stamp = Stamp::decode(&mut input)?;
        let length = usize::try_from(stamp.length()).ok()?;
        let mut magics = BTreeSet::new();
        for _ in 0..input.get()? {
            magics.insert(input.get()?);
        }
        let count = input.get()?;
        // Each takes ten bytes at least.
        let most = usize::try_from(count).ok()?.min(input.0.len() / 10);
        let mut passed = Vec::<Passed>::with_capacity(most);
        let mut at = Before::default();
        for _ in 0..count {
            let unit = at.unit(&mut input, length)?;
            let (mut end, mut among) = (unit.place.start, Vec::new());
            for _ in 0..input.get()? {
                among.push(range(&mut input, &mut end, unit.place.end)?);
            }
            passed.push(Passed { unit, among });
        }
        let covered = input.0.to_vec();
        Coverage::decode(&mut input, length)?;
        Some(Outline {
            covered,
            stamp,
            magics: magics.into_iter().collect(),
            passed,
        })
    }
}

/// The unit before: where its frames end, and its least ticks and time.
#[derive(Default)]
struct Before {
    end: usize,
    ticks: u64,
    unix: u64,
}

impl Before {
    fn put(&mut self, unit: &Unit, out: &mut Vec<u8>) {
        put_range(out, &mut self.end, &unit.frames());
        put(out, unit.head.into());
        put(out, unit.count);
        for (before, range) in [(&mut self.ticks, unit.ticks), (&mut self.unix, unit.unix)] {
            put_difference(out, range.0, *before);
            put(out, range.1.wrapping_sub(range.0));
            *before = range.0;
        }
        put(out, unit.sum.unwrap_or(0).into());
        put(out, unit.digest);
    }

    fn unit(&mut self, input: &mut NumberReader, length: usize) -> Option<Unit> {
        let frames = range(input, &mut self.end, length)?;
        let head = input.count(frames.len())?;
        let count = input.get()?;
        let mut times = |before: &mut u64| {
            *before = input.difference(*before)?;
            Some((*before, before.wrapping_add(input.get()?)))
        };
        let (ticks, unix) = (times(&mut self.ticks)?, times(&mut self.unix)?);
        Some(Unit {
            place: frames.start + head..frames.end,
            head: u8::try_from(head).ok()?,
            block: head > 0,
            count,
            ticks,
            unix,
            important: false,
            gap: None,
            sum: Some(u32::try_from(input.get()?).ok()?),
            passed: true,
            hint: None,
            digest: input.get()?,
        })
    }
}

/// Appends a range behind another one that ended at `end`.
fn put_range(out: &mut Vec<u8>, end: &mut usize, range: &Range<usize>) {
    put(out, (range.start - *end) as u64);
    put(out, range.len() as u64);
    *end = range.end;
}

/// The next range, from `end` on, which ends at `most` at the latest.
fn range(input: &mut NumberReader, end: &mut usize, most: usize) -> Option<Range<usize>> {
    let start = *end + input.count(most.checked_sub(*end)?)?;
    *end = start + input.count(most - start)?;
    Some(start..*end)
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;
    use timeline::Order;

    use super::*;
    use crate::format::event::RawEvent;
    use crate::read::file::bytes::ArchiveBytes;
    use crate::read::open::archive::Archive;
    use crate::write::writer::{Form, Writer};

    /// What is written next.
    #[derive(Debug, Clone)]
    pub enum OutlineStep {
        Events(u8),
        Important,
        Text,
        Missed(bool),
        Gap,
        Flush,
        /// Bytes of no frame.
        Noise(Vec<u8>),
    }

    pub fn steps() -> impl Strategy<Value = Vec<OutlineStep>> {
        let step = prop_oneof![
            4 => (1..40_u8).prop_map(OutlineStep::Events),
            1 => Just(OutlineStep::Important),
            2 => Just(OutlineStep::Text),
            1 => any::<bool>().prop_map(OutlineStep::Missed),
            1 => Just(OutlineStep::Gap),
            1 => Just(OutlineStep::Flush),
            1 => prop::collection::vec(any::<u8>(), 1..30).prop_map(OutlineStep::Noise),
        ];
        prop::collection::vec(step, 0..40)
    }

    fn event(number: u64) -> RawEvent {
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50;
        let mut event = RawEvent {
            ticks: Some(1_000 * number + mixed),
            unix_nanos: Some(5_000_000 + 400 * number + mixed),
            lane: Some(number % 3),
            number: Some(number / 3),
            args: vec![mixed as i64; (mixed % 3) as usize],
            ..RawEvent::default()
        };
        event.definition.format = Some(number % 5);
        event.thread.tid = Some(number % 2);
        event
    }

    /// A file, which begins with the event of this number.
    pub fn file(steps: &[OutlineStep], form: Form, number: &mut u64) -> Vec<u8> {
        let mut all = Vec::new();
        for steps in steps.split_inclusive(|step| matches!(step, OutlineStep::Noise(_))) {
            let mut writer = Writer::new(&mut all, 7 + *number % 2, form);
            for step in steps {
                write(step, &mut writer, number);
            }
            writer.flush().unwrap();
            if let Some(OutlineStep::Noise(bytes)) = steps.last() {
                all.extend_from_slice(bytes);
            }
        }
        all
    }

    fn write(step: &OutlineStep, writer: &mut Writer<&mut Vec<u8>>, number: &mut u64) {
        match step {
            OutlineStep::Events(count) => {
                for _ in 0..*count {
                    writer.event(&event(*number)).unwrap();
                    *number += 1;
                }
            }
            OutlineStep::Important => {
                let mut important = event(*number / 2);
                important.lane = Some(32_768);
                important.number = Some(*number / 2);
                writer.event(&important).unwrap();
            }
            OutlineStep::Text => drop(writer.string(&format!("text {number}"))),
            OutlineStep::Missed(true) => writer.missed(*number, None, &[]).unwrap(),
            OutlineStep::Missed(false) => writer.missed_unknown(),
            OutlineStep::Gap => writer.gap(&event(*number), 3, 0).unwrap(),
            OutlineStep::Flush => writer.flush().unwrap(),
            OutlineStep::Noise(_) => {}
        }
    }

    fn joined(files: &[Vec<u8>]) -> ArchiveBytes {
        let mut bytes = ArchiveBytes::default();
        files.iter().for_each(|file| bytes.add_bytes(file.clone()));
        bytes
    }

    /// All that an archive says, but for how important events are grouped.
    fn said(archive: &Archive) -> String {
        let mut units: Vec<_> = archive.units().filter(|unit| !unit.important).collect();
        units.iter_mut().for_each(|unit| unit.number = 0);
        let mut events: Vec<String> = Vec::new();
        for order in [Order::OldestFirst, Order::NewestFirst] {
            events.extend(archive.by_time(order).map(|event| format!("{event:?}")));
        }
        format!(
            "{units:?}\n{events:?}\n{:?} {:?} {} {} {} {} {} {} {:?} {:?} {}",
            archive.damage(),
            archive.magics().collect::<Vec<_>>(),
            archive.frames(),
            archive.unknown(),
            archive.whole(),
            archive.missed(),
            archive.missed_unknown(),
            archive.count(),
            archive.recoverable(),
            archive.holes(),
            archive.repeated(),
        )
    }

    fn outlines(archive: &Archive, bytes: &ArchiveBytes) -> Vec<Outline> {
        let outlines = bytes.sections().iter().enumerate().map(|(file, section)| {
            let stamp = Stamp::of_length(section.range().len());
            let known = (stamp, archive.covered(file));
            let outline = Outline::of(archive.contents(), &section.range(), known);
            let mut encoded = Vec::new();
            outline.encode(&mut encoded);
            assert_eq!(Outline::decode(&encoded).as_ref(), Some(&outline));
            outline
        });
        outlines.collect()
    }

    fn open(bytes: ArchiveBytes, outlines: &[Outline]) -> Archive {
        let ranges: Vec<Range<usize>> = bytes.sections().iter().map(Section::range).collect();
        let number = |range| ranges.iter().position(|other| *other == range);
        let of = |section: &Section| outlines.get(number(section.range())?).cloned();
        Archive::of(bytes, &of).unwrap()
    }

    proptest! {
        #[test]
        fn an_archive_is_the_same_whether_it_is_read_or_outlined(
            parts in prop::collection::vec((steps(), any::<bool>()), 1..4),
            flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u32), 0..4),
        ) {
            let mut number = 0;
            let form = |plain| if plain { Form::Plain } else { Form::Blocks };
            let files = parts.iter().map(|(steps, plain)| file(steps, form(*plain), &mut number));
            let mut files: Vec<Vec<u8>> = files.collect();
            let count = files.len();
            for (at, bit) in flips {
                let file = &mut files[at.index(count)];
                if !file.is_empty() {
                    let at = at.index(file.len());
                    file[at] ^= 1 << bit;
                }
            }
            let read = Archive::of(joined(&files), &|_| None).unwrap();
            let outlines = outlines(&read, &joined(&files));
            let outlined = open(joined(&files), &outlines);
            prop_assert_eq!(said(&outlined), said(&read));
            // What was found in several files says the same of each of them alone.
            for (file, outline) in files.iter().zip(outlines) {
                let alone = || joined(std::slice::from_ref(file));
                let read = Archive::of(alone(), &|_| None).unwrap();
                prop_assert_eq!(said(&open(alone(), &[outline])), said(&read));
            }
        }

        #[test]
        fn bytes_that_were_changed_are_noticed(
            steps in steps(),
            plain: bool,
            at: prop::sample::Index,
            bit in 0..8_u32,
        ) {
            let form = if plain { Form::Plain } else { Form::Blocks };
            let mut bytes = file(&steps, form, &mut 0);
            prop_assume!(!bytes.is_empty());
            let read = Archive::from_bytes(bytes.clone());
            let outlines = outlines(&read, &joined(&[bytes.clone()]));
            let all: Vec<_> = read.by_time(Order::OldestFirst).collect();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let changed = open(joined(&[bytes]), &outlines);
            let left: Vec<_> = changed.by_time(Order::OldestFirst).collect();
            prop_assert!(left.len() <= all.len());
            let (found, lost) = changed.recoverable();
            let is_passed = outlines[0].passed.iter().any(|p| p.unit.place.contains(&at));
            if is_passed && left != all {
                prop_assert!(lost > 0 && found + lost >= read.count());
            }
        }

        #[test]
        fn no_bytes_are_believed_beyond_the_file(
            steps in steps(),
            noise in prop::collection::vec(any::<u8>(), 0..60),
            at: prop::sample::Index,
        ) {
            let bytes = file(&steps, Form::Blocks, &mut 0);
            let read = Archive::from_bytes(bytes.clone());
            let mut encoded = Vec::new();
            outlines(&read, &joined(std::slice::from_ref(&bytes)))[0].encode(&mut encoded);
            let at = at.index(encoded.len());
            encoded.splice(at..(at + noise.len()).min(encoded.len()), noise);
            if let Some(outline) = Outline::decode(&encoded)
                && outline.stamp.length() == bytes.len() as u64
            {
                let archive = open(joined(&[bytes]), &[outline]);
                archive.by_time(Order::OldestFirst).for_each(drop);
            }
        }
    }
}
