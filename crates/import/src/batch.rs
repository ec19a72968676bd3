//! Finds the definitions of the lines of a block, and makes the block of them.
//!
//! All lines of a block are there before any is written. So a definition is made only if enough
//! lines have it, and its conversions suit all of them. A line that has no definition with a cut at
//! every separator is cut at spaces only; one that still has none is one text behind its time.

use std::collections::{HashMap, HashSet};

use timeline::Priority;
use timeline::internal::ValueKind;
use timeline_archive::{BlockLine, LineBlock, LineShape, LineTexts, LineValues};

use super::definitions::{DefinitionCache, PutString, next};
use super::json::{JsonObjects, KnownObject, ObjectId, ValueStorage};
use super::skeleton::{CutLine, Skeleton, SkeletonId, Skeletons};
use super::template::VariableForm;
use super::timestamp::{Timestamp, Timestamps};
use super::tokens::{ByteRange, Cut, cut};

/// So many lines have a definition, or it is not made.
const LEAST: u32 = 16;
/// So many definitions of one family of lines are made before words become variables.
const MOST_OF_FAMILY: usize = 24;

/// Most lines of a block, and about how many bytes they have. Larger blocks take less space: with
/// four times as many lines, a log of 500 MB takes 5 % less. But all that is before a line in its
/// block is passed over to read it, and a search for a number in two blocks takes twice as long.
const MOST_LINES: usize = 1 << 14;
const MOST_BYTES: usize = 8 << 20;

/// Lines that wait to be written as a block.
#[derive(Default)]
pub struct Batch {
    text: Vec<u8>,
    lines: Vec<Waiting>,
    spans: Vec<ByteRange>,
    /// How many values of JSON there are: each takes a byte, also an empty text.
    values: usize,
}

/// A line of a batch.
#[derive(Clone, Copy)]
struct Waiting {
    /// Its place in the text of the batch.
    from: usize,
    to: usize,
    /// The places of its variables among all of the batch.
    first_span: u32,
    spans: u32,
    /// Of a line of text.
    skeleton: SkeletonId,
    found: Option<Timestamp>,
    /// Of an event that was made of JSON, whose variables are its values.
    object: Option<ObjectId>,
    time: Option<u64>,
    place: LinePlace,
}

/// What the lines of a shape have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Common {
    Text(SkeletonId, Option<Priority>),
    Object(ObjectId),
}

/// Where a line is from.
#[derive(Clone, Copy)]
pub struct LinePlace {
    /// Its thread in the block.
    pub thread: u32,
    /// Its lane, and its number in there.
    pub lane: u64,
    pub number: u64,
    /// Whether it ends with a line feed.
    pub has_end: bool,
}

/// What an import knows of its lines so far.
#[derive(Default)]
pub struct ImportState {
    pub skeletons: Skeletons,
    /// The words that are variables in the lines of each family.
    masks: HashMap<u32, u64>,
    /// The time of the last line that has one.
    last_time: Option<u64>,
}

impl Batch {
    /// Whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether a block of these lines is large enough.
    pub fn is_full(&self) -> bool {
        self.lines.len() >= MOST_LINES || self.text.len() + self.values >= MOST_BYTES
    }

    /// Appends a line.
    #[inline]
    pub fn push(
        &mut self,
        line: &[u8],
        found: Option<Timestamp>,
        place: LinePlace,
        known: &mut ImportState,
    ) {
        let first_span = self.spans.len() as u32;
        cut(
            line,
            found.map(|found| found.span),
            Cut::Fine(0),
            &mut self.spans,
        );
        let from = self.text.len();
        self.text.extend_from_slice(line);
        let waiting = Waiting {
            from,
            to: self.text.len(),
            first_span,
            spans: self.spans.len() as u32 - first_span,
            skeleton: 0,
            found,
            object: None,
            time: found.map(|found| found.unix_nanos),
            place,
        };
        let skeleton = known.skeletons.of(&self.cut_line(&waiting), true);
        self.lines.push(Waiting {
            skeleton,
            ..waiting
        });
    }

    /// Appends an event that was made of JSON.
    pub fn push_object<'a>(
        &mut self,
        object: ObjectId,
        time: Option<u64>,
        place: LinePlace,
        values: impl Iterator<Item = &'a [u8]>,
    ) {
        let (from, first_span) = (self.text.len(), self.spans.len() as u32);
        for value in values {
            let begin = self.text.len() - from;
            self.text.extend_from_slice(value);
            self.spans
                .push((begin as u32, (self.text.len() - from) as u32));
        }
        let spans = self.spans.len() as u32 - first_span;
        self.values += spans as usize;
        self.lines.push(Waiting {
            from,
            to: self.text.len(),
            first_span,
            spans,
            skeleton: 0,
            found: None,
            object: Some(object),
            time,
            place,
        });
    }

    fn cut_line(&self, line: &Waiting) -> CutLine<'_> {
        let spans = &self.spans[line.first_span as usize..][..line.spans as usize];
        let time = line.found.and_then(|found| {
            let place = spans.iter().position(|span| *span == found.span)?;
            Some((place, found.form))
        });
        CutLine {
            line: &self.text[line.from..line.to],
            spans,
            time,
            has_end: line.place.has_end,
        }
    }

    /// Makes a block of the lines, which then has their definitions by number.
    pub fn finish(
        &mut self,
        known: &mut ImportState,
        times: &Timestamps,
        (definitions, objects): (&mut DefinitionCache, &mut JsonObjects),
        put: PutString,
    ) -> LineBlock {
        let fine: Vec<_> = self.lines.iter().map(|line| line.skeleton).collect();
        let is_text = |place: &usize| self.lines[*place].object.is_none();
        let text: Vec<_> = (0..self.lines.len()).filter(is_text).collect();
        self.count(text.iter().copied(), known);
        known.find_masks(text.iter().map(|place| fine[*place]));
        self.cut_again(text, known, definitions);
        let mut block = LineBlock::default();
        let mut shapes: HashMap<Common, usize> = HashMap::new();
        let mut members: Vec<Vec<u32>> = Vec::new();
        for ((place, line), fine) in self.lines.iter().enumerate().zip(&fine) {
            let common = match line.object {
                Some(object) => Common::Object(object),
                None => Common::Text(line.skeleton, known.skeletons.get(*fine).priority),
            };
            let shape = *shapes.entry(common).or_insert(members.len());
            if shape == members.len() {
                members.push(Vec::new());
            }
            members[shape].push(place as u32);
            block.lines.push(BlockLine {
                shape: shape as u32,
                thread: line.place.thread,
                lane: line.place.lane,
                number: line.place.number,
            });
        }
        let mut keys: Vec<_> = shapes.into_iter().collect();
        keys.sort_by_key(|(_, shape)| *shape);
        for ((common, _), members) in keys.iter().zip(&members) {
            let (id, priority) = match *common {
                Common::Text(id, priority) => (id, priority),
                Common::Object(id) => {
                    let values = self.object_values(objects.get(id), members, times);
                    let number = || next(&mut definitions.numbers);
                    let definition = objects.definition(id, number, put);
                    block.shapes.push(LineShape { definition, values });
                    continue;
                }
            };
            let skeleton = known.skeletons.get(id);
            let (values, conversions) = {
                let before = definitions.conversions(id, priority);
                self.values(skeleton, members, times, before)
            };
            let definition = definitions.define((id, skeleton), priority, conversions, put);
            block.shapes.push(LineShape { definition, values });
        }
        block.times = self.times(known);
        self.text.clear();
        self.lines.clear();
        self.spans.clear();
        self.values = 0;
        block
    }

    /// Counts the lines of each skeleton. Those of earlier blocks count as well: the blocks of a
    /// log that is followed are small.
    fn count(&self, lines: impl Iterator<Item = usize>, known: &mut ImportState) {
        for line in lines {
            let skeleton = known.skeletons.get_mut(self.lines[line].skeleton);
            skeleton.count = skeleton.count.saturating_add(1);
        }
    }

    /// Gives each line a skeleton that has a definition, or is to have one.
    fn cut_again(
        &mut self,
        mut left: Vec<usize>,
        known: &mut ImportState,
        definitions: &DefinitionCache,
    ) {
        for step in [Step::Masked, Step::Coarse, Step::Whole] {
            let mut cut = Vec::new();
            for line in left {
                let id = self.lines[line].skeleton;
                let skeleton = known.skeletons.get(id);
                let may_be = skeleton.count >= LEAST && skeleton.is_text;
                let mask = skeleton.family.and_then(|family| known.masks.get(&family));
                let is_variable = step == Step::Masked && mask.is_some();
                let may_be = may_be && !is_variable && definitions.have_room();
                if !may_be && !definitions.has(id) {
                    self.cut_line_again(line, step, known);
                    cut.push(line);
                }
            }
            self.count(cut.iter().copied(), known);
            left = cut;
        }
    }

    fn cut_line_again(&mut self, number: usize, step: Step, known: &mut ImportState) {
        let line = self.lines[number];
        let family = known.skeletons.get(line.skeleton).family;
        let mask = family.and_then(|family| known.masks.get(&family).copied());
        let first_span = self.spans.len();
        let text = &self.text[line.from..line.to];
        let time = line.found.map(|found| found.span);
        match (step, mask) {
            (Step::Masked, None) => return,
            (Step::Masked, Some(mask)) => cut(text, time, Cut::Fine(mask), &mut self.spans),
            (Step::Coarse, _) => cut(text, time, Cut::Coarse, &mut self.spans),
            (Step::Whole, _) => {
                let (from, to) = time.unwrap_or((0, 0));
                if time.is_some() {
                    self.spans.extend([(0, from), (from, to)]);
                }
                self.spans.push((to, text.len() as u32));
            }
        }
        let line = Waiting {
            first_span: first_span as u32,
            spans: (self.spans.len() - first_span) as u32,
            ..line
        };
        let skeleton = known.skeletons.of(&self.cut_line(&line), false);
        self.lines[number] = Waiting { skeleton, ..line };
    }

    /// The values of the lines of one skeleton, and how a format writes them.
    fn values(
        &self,
        skeleton: &Skeleton,
        members: &[u32],
        times: &Timestamps,
        before: Option<&[VariableForm]>,
    ) -> (Vec<LineValues>, Vec<VariableForm>) {
        let places = skeleton.ends.len() - 1;
        // Those of each place side by side.
        let mut texts: Vec<&[u8]> = vec![&[]; places * members.len()];
        for (line, number) in members.iter().zip(0..) {
            let line = &self.lines[*line as usize];
            let spans = &self.spans[line.first_span as usize..][..places];
            for ((from, to), place) in spans.iter().zip(0..) {
                let text = &self.text[line.from + *from as usize..line.from + *to as usize];
                texts[place * members.len() + number] = text;
            }
        }
        let each = (0..places)
            .zip(texts.chunks(members.len()))
            .map(|(place, texts)| {
                if let Some((_, form)) = skeleton.time.filter(|(time, _)| *time == place) {
                    let form = times.form(form).clone();
                    return (LineValues::Time(form), VariableForm::Text);
                }
                let before = before.and_then(|before| before.get(place).copied());
                let (conversion, numbers) = VariableForm::of(before, texts);
                let values = numbers
                    .map(|all| LineValues::Numbers(ValueKind::Uint, all))
                    .unwrap_or_else(|| {
                        let mut all = LineTexts::default();
                        texts.iter().for_each(|text| all.push(text));
                        LineValues::Texts(all)
                    });
                (values, conversion)
            });
        each.unzip()
    }

    /// The values of the events that were made of JSON and have this in common.
    fn object_values(
        &self,
        common: &KnownObject,
        members: &[u32],
        times: &Timestamps,
    ) -> Vec<LineValues> {
        let of_place = |(place, kept): (usize, &ValueStorage)| {
            let values = members.iter().map(|line| {
                let line = &self.lines[*line as usize];
                let (from, to) = self.spans[line.first_span as usize + place];
                &self.text[line.from + from as usize..line.from + to as usize]
            });
            match kept {
                ValueStorage::Time(form) => LineValues::Time(times.form(*form).clone()),
                ValueStorage::Numbers(kind) => {
                    let number = |bytes: &[u8]| bytes.first_chunk().copied().unwrap_or_default();
                    let numbers = values.map(|bytes| u64::from_le_bytes(number(bytes)));
                    LineValues::Numbers(*kind, numbers.collect())
                }
                ValueStorage::Texts => {
                    let mut all = LineTexts::default();
                    values.for_each(|text| all.push(text));
                    LineValues::Texts(all)
                }
            }
        };
        common.kept.iter().enumerate().map(of_place).collect()
    }

    /// The times of the lines. One without a time has that of the line before.
    fn times(&self, known: &mut ImportState) -> Vec<u64> {
        let first = known
            .last_time
            .or_else(|| self.lines.iter().find_map(|line| line.time));
        let Some(mut last) = first else {
            return Vec::new();
        };
        let times = self.lines.iter().map(|line| {
            last = line.time.unwrap_or(last);
            last
        });
        let times = times.collect();
        known.last_time = Some(last);
        times
    }
}

/// How lines are cut that have no definition yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Masked,
    Coarse,
    Whole,
}

impl ImportState {
    /// Forgets the skeletons, because there are too many.
    pub fn forget_skeletons(&mut self) {
        self.skeletons = Skeletons::default();
        self.masks.clear();
    }

    /// Finds the words that differ among the lines of large families.
    fn find_masks(&mut self, used: impl Iterator<Item = SkeletonId>) {
        let mut families: HashMap<u32, HashSet<SkeletonId>> = HashMap::new();
        for id in used {
            if let Some(family) = self.skeletons.get(id).family {
                families.entry(family).or_default().insert(id);
            }
        }
        for (family, members) in families {
            if members.len() > MOST_OF_FAMILY {
                let members = members.iter().map(|id| &*self.skeletons.get(*id).words);
                let before = self.masks.get(&family).copied().unwrap_or(0);
                self.masks
                    .insert(family, mask(&Vec::from_iter(members), before));
            }
        }
    }
}

/// The words to be variables, so that few lines remain that differ in the others.
fn mask(members: &[&[Option<u64>]], mut mask: u64) -> u64 {
    let places = members
        .iter()
        .map(|words| words.len())
        .max()
        .unwrap_or(0)
        .min(64);
    loop {
        let rest = members.iter().map(|words| {
            let words = words.iter().enumerate().take(64);
            let rest = words.filter(|(place, _)| mask >> place & 1 == 0);
            rest.map(|(_, word)| *word).collect::<Vec<_>>()
        });
        if rest.collect::<HashSet<_>>().len() <= MOST_OF_FAMILY {
            return mask;
        }
        let differing = |place: &usize| {
            let words = members
                .iter()
                .filter_map(|words| words.get(*place).copied().flatten());
            words.collect::<HashSet<_>>().len()
        };
        let open = (0..places).filter(|place| mask >> place & 1 == 0);
        match open
            .max_by_key(differing)
            .filter(|place| differing(place) > 1)
        {
            Some(place) => mask |= 1 << place,
            None => return mask,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_bytes_fill_a_batch_as_well() {
        let (mut batch, mut count) = (Batch::default(), 0);
        let place = LinePlace {
            thread: 0,
            lane: 0,
            number: 0,
            has_end: true,
        };
        while !batch.is_full() {
            batch.push_object(0, None, place, std::iter::repeat_n(&b""[..], 4096));
            count += 4096;
        }
        assert_eq!(count, MOST_BYTES);
        assert!(batch.lines.len() < MOST_LINES);
    }
}
