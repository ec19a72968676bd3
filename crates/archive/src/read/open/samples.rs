//! Archives with holes of all kinds, for tests.

use proptest::prelude::*;
use proptest::sample::Index;
use timeline::Event;
use timeline::internal::msgpack::FieldWriter;

use crate::format::event::{RawEvent, SingleEvent};
use crate::format::frame::{self, Checksum, Frames, Part};
use crate::format::preamble::Preamble;
use crate::format::record::{Block, Record, decode};
use crate::read::open::archive::Archive;
use crate::write::writer::{Form, Writer};

const LANES: u64 = 3;

/// What a recorder does next.
#[derive(Debug, Clone)]
enum Step {
    Events(u8),
    /// Entries of a lane are missing; whether it says up to when.
    Gap(u8, bool),
    /// Entries of a lane are left out.
    Left(u8),
    Important,
    Flush,
}

/// How blocks say from where to where they go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Account {
    Whole,
    /// Only to where.
    Vague,
    Nothing,
}

#[derive(Debug, Clone)]
pub struct Run {
    form: Form,
    account: Account,
    /// Whether it says where it begins.
    is_stated: bool,
    has_preamble: bool,
    steps: Vec<Step>,
}

/// What becomes of a frame.
#[derive(Debug, Clone, Copy)]
pub enum FrameChange {
    Cut,
    Damage,
    /// A block has an event less than it promises, or none.
    Fewer,
    Torn,
    /// A block of a codec that nobody knows.
    Codec,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..12_u8).prop_map(Step::Events),
        1 => (1..9_u8, any::<bool>()).prop_map(|(count, until)| Step::Gap(count, until)),
        1 => (1..9_u8).prop_map(Step::Left),
        1 => Just(Step::Important),
        3 => Just(Step::Flush),
    ]
}

/// Whether a follower has told the holes that a reader finds. A block that does not say from where
/// it goes on takes the proof of the holes before it away, of which a follower has told.
pub fn are_alike(runs: &[Run], followed: &[(u64, bool)], anew: &[(u64, bool)]) -> bool {
    let is_vague = runs.iter().any(|run| run.account == Account::Vague);
    let mut both = followed.iter().zip(anew);
    match is_vague {
        true => {
            followed.len() == anew.len()
                && both.all(|(one, other)| one.0 == other.0 && one <= other)
        }
        false => followed == anew,
    }
}

pub fn runs() -> impl Strategy<Value = Vec<Run>> {
    let form = prop_oneof![Just(Form::Blocks), Just(Form::Plain)];
    let account = prop_oneof![
        4 => Just(Account::Whole),
        1 => Just(Account::Vague),
        1 => Just(Account::Nothing),
    ];
    let steps = prop::collection::vec(step(), 1..24);
    let run = (form, account, any::<bool>(), any::<bool>(), steps);
    let run = run.prop_map(|(form, account, is_stated, has_preamble, steps)| Run {
        form,
        account,
        is_stated,
        has_preamble,
        steps,
    });
    prop::collection::vec(run, 1..3)
}

pub fn changes() -> impl Strategy<Value = Vec<(Index, FrameChange)>> {
    let change = prop_oneof![
        2 => Just(FrameChange::Cut),
        2 => Just(FrameChange::Damage),
        1 => Just(FrameChange::Fewer),
        1 => Just(FrameChange::Torn),
        1 => Just(FrameChange::Codec),
    ];
    prop::collection::vec((any::<Index>(), change), 0..5)
}

/// The frames of an archive of these runs, each by itself, which were changed so.
pub fn frames(runs: &[Run], changes: &[(Index, FrameChange)]) -> Vec<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut ticks = 1_000;
    for (number, run) in runs.iter().enumerate() {
        let magic = 7 + number as u64;
        write(run, (magic, runs.len() == 1), &mut ticks, &mut bytes);
    }
    let frames = Frames::new(&bytes).map(|part| match part {
        Part::Frame { place, .. } => bytes[place].to_vec(),
        Part::Damage(place) => panic!("damage at {place:?}"),
    });
    let mut frames: Vec<Vec<u8>> = frames.collect();
    for (at, change) in changes {
        if !frames.is_empty() {
            let at = at.index(frames.len());
            frames[at] = changed(&frames[at], *change);
        }
    }
    frames
}

fn changed(frame: &[u8], change: FrameChange) -> Vec<u8> {
    let mut single = SingleEvent::default();
    let record = Frames::new(frame).find_map(|part| match part {
        Part::Frame { record, .. } => decode(record, &mut single),
        Part::Damage(_) => None,
    });
    match (change, record) {
        (FrameChange::Cut, _) => Vec::new(),
        (FrameChange::Damage, _) => vec![0x55; frame.len()],
        (FrameChange::Fewer, Some(Record::Block(block))) => block_frame(&Block {
            count: block.count.map(|count| count + 1),
            ..block
        }),
        (FrameChange::Torn, Some(Record::Block(block))) => block_frame(&Block {
            payload: block.payload.map(|payload| &payload[..payload.len() - 1]),
            ..block
        }),
        (FrameChange::Codec, Some(Record::Block(block))) => block_frame(&Block {
            codec: Some(b"other"),
            ..block
        }),
        _ => frame.to_vec(),
    }
}

fn block_frame(block: &Block) -> Vec<u8> {
    let (mut record, mut out) = (Vec::new(), Vec::new());
    block.encode(&mut FieldWriter::default(), &mut record);
    frame::put(&record, &mut Checksum::default(), &mut out);
    out
}

/// Where there are several rings, times tell where a hole ends only roughly: by units.
fn write(run: &Run, (magic, is_alone): (u64, bool), ticks: &mut u64, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out, magic, run.form);
    if run.has_preamble {
        writer.preamble(&Preamble {
            magic: Some(magic),
            ..Preamble::default()
        });
    }
    if run.is_stated {
        writer.reached(Some(magic), Vec::new());
    }
    let mut next = [0_u64; LANES as usize];
    let (mut gap, mut important) = (None, 0);
    for step in &run.steps {
        let lane = (*ticks / 10 * 7 / 3 % LANES) as usize;
        match step {
            Step::Events(count) => {
                for _ in 0..*count {
                    *ticks += 10;
                    let lane = (*ticks / 10 * 7 / 3 % LANES) as usize;
                    let event = event(*ticks, lane as u64, next[lane]);
                    if gap.is_some_and(|(of, _)| of == lane) {
                        let (_, count) = gap.take().expect("it is");
                        writer.gap(&event, count, 0).unwrap();
                    }
                    next[lane] += 1;
                    writer.event(&event).unwrap();
                }
            }
            Step::Gap(count, until) if gap.is_none() => {
                next[lane] += u64::from(*count);
                gap = Some((lane, u64::from(*count)));
                if *until && is_alone {
                    account(run, &mut writer, &next);
                    writer.missed(0, Some(*ticks + 60), &[]).unwrap();
                }
            }
            Step::Left(count) if gap.is_none() => {
                next[lane] += u64::from(*count);
                writer.note_position(lane as u64, next[lane]);
            }
            Step::Important => {
                writer.event(&event(*ticks, 32_768, important)).unwrap();
                important += 1;
            }
            _ => {
                account(run, &mut writer, &next);
                writer.flush().unwrap();
            }
        }
    }
    account(run, &mut writer, &next);
    writer.tell_moved();
    writer.flush().unwrap();
}

/// Says what the next block accounts for, if that is less than usual.
fn account(run: &Run, writer: &mut Writer<&mut Vec<u8>>, next: &[u64]) {
    let lanes = (0..).zip(next.iter().copied());
    let positions = match run.account {
        Account::Whole => return,
        Account::Vague => lanes.collect(),
        Account::Nothing => Vec::new(),
    };
    writer.accounts_for(&Block {
        positions,
        ..Block::default()
    });
}

fn event(ticks: u64, lane: u64, number: u64) -> RawEvent {
    RawEvent {
        ticks: Some(ticks),
        unix_nanos: Some(1_000_000 + 3 * ticks),
        lane: Some(lane),
        number: Some(number),
        ..RawEvent::default()
    }
}

/// Of each event that is not important, its ticks, and whether nothing is missing between it and
/// the one before it.
pub fn chain<'e>(events: impl IntoIterator<Item = &'e Event>) -> Vec<(u64, bool)> {
    let mut before = None;
    let others = events.into_iter().filter(|event| !event.important);
    let each = others.map(|event| {
        let goes_on = before.is_some_and(|before| event.passage.goes_on(before));
        before = Some(event.passage);
        (event.ticks, goes_on)
    });
    each.collect()
}

/// The same as [`chain`] says, but for the first event behind a block that cannot be read: it is in
/// no hole by itself.
pub fn chain_of(archive: &Archive, events: &[Event]) -> Vec<(u64, bool)> {
    let (mut reader, mut read) = (archive.unit_reader(), Vec::new());
    let lossy = archive
        .units()
        .filter(|unit| reader.read(unit.number, &mut read) > 0);
    let lossy: Vec<(u64, u64)> = lossy.map(|unit| unit.ticks).collect();
    let events = events.iter().filter(|event| !event.important);
    let events: Vec<&Event> = events.collect();
    let goes_on = |at: usize| {
        let (before, event) = (events[at.checked_sub(1)?], events[at]);
        let passage =
            |event: &Event| archive.passage(event.ticks, event.time.map_or(0, Into::into));
        let is_lost = |(first, last): &(u64, u64)| before.ticks <= *last && event.ticks >= *first;
        Some(passage(event).goes_on(passage(before)) && !lossy.iter().any(is_lost))
    };
    let each = events.iter().enumerate();
    each.map(|(at, event)| (event.ticks, goes_on(at).unwrap_or(false)))
        .collect()
}
