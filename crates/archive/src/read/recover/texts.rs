//! The texts of a file: what stands between zero bytes, and the ends of it.
//!
//! Linkers put equal ends of texts in one place, so that one text of a program may be the end of
//! another one.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use timeline::internal::bounded;
use timeline::internal::executable::{MAX_EXECUTABLE, digest};
use timeline::internal::symbols::{ProgramFiles, is_of};
use timeline::{Definition, Module};

use super::lost_texts::LostTexts;
use super::variants;
use crate::read::texts::executable::{self, Executable, Misfit};

/// Bytes of a text that are kept: more than definitions have, so that it is seen to be cut.
const MOST_TEXT: usize = Definition::LONGEST_TEXT + 4;

/// What is hashed of each text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// All of it.
    Whole,
    /// What the library makes of it: messages with types, at most so many of each, and channels.
    Variants(u64),
    /// The messages of spans.
    Spans(u64),
    /// Each end of it.
    Ends,
    /// What the library makes of each end.
    VariantsOfEnds(u64),
}

/// So many lists of types are tried for each message first: most programs have one of them.
const LIKELY: u64 = 1 << 8;

/// All phases, the cheap ones first. What is unlikely is tried of what is lost still.
const PHASES: [Phase; 9] = [
    Phase::Whole,
    Phase::Variants(LIKELY),
    Phase::Spans(LIKELY),
    Phase::Variants(1 << 13),
    Phase::Ends,
    Phase::VariantsOfEnds(LIKELY),
    Phase::Variants(1 << 17),
    Phase::Spans(1 << 13),
    Phase::VariantsOfEnds(1 << 11),
];

/// What may still be done for all files together.
pub struct Budget {
    /// Bytes to read.
    read: u64,
    /// Bytes to hash of ends of texts.
    ends: u64,
    /// Variants to try.
    variants: u64,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            read: 2 * MAX_EXECUTABLE,
            ends: 1 << 30,
            variants: 1 << 23,
        }
    }
}

impl Budget {
    fn reads(&mut self, bytes: u64) -> bool {
        let is_left = self.read >= bytes;
        self.read = self.read.saturating_sub(bytes);
        is_left
    }
}

/// Looks for wanted texts in a file, if it is one of those expected. Returns which one it is.
pub fn search(
    path: &Path,
    expected: &[Executable],
    wanted: &mut LostTexts,
    budget: &mut Budget,
) -> Result<Executable, Misfit> {
    let known = expected.first().ok_or(Misfit::Unknown)?;
    let (mut file, size) = executable::open(path)?;
    let is_size = |one: &&Executable| one.size == size;
    if !expected.iter().any(|one| is_size(&one)) {
        return Err(Misfit::Size {
            found: size,
            expected: known.size,
        });
    }
    if !budget.reads(size) {
        return Err(Misfit::TooLarge);
    }
    let before = wanted.begin();
    let digest = read(&file, size, |text| {
        try_run(text, Phase::Whole, wanted, budget)
    })?;
    let fits = |one: &&Executable| (one.size, one.sha1) == digest;
    let Some(found) = expected.iter().find(fits) else {
        wanted.drop_since(before);
        return Err(Misfit::Digest);
    };
    try_phases(&mut file, size, &PHASES[1..], wanted, budget)?;
    Ok(found.clone())
}

/// Looks for wanted texts in a file, if a process had loaded it. Its build id is a digest, too.
pub fn search_module(
    path: &Path,
    (module, programs): (&Module, &ProgramFiles),
    wanted: &mut LostTexts,
    budget: &mut Budget,
) -> Result<(), Misfit> {
    let (mut file, size) = executable::open(path)?;
    let path = std::path::absolute(path).map_err(unreadable)?;
    if !is_of(&path, module, programs) {
        return Err(Misfit::Module);
    }
    if !budget.reads(size) {
        return Err(Misfit::TooLarge);
    }
    let (before, mut logs) = (wanted.count(), false);
    read(&file, size, |text| {
        // The name of a function that it calls.
        logs |= text.starts_with(b"timeline_");
        try_run(text, Phase::Whole, wanted, budget);
    })?;
    // Most libraries log nothing, and have a word or two that another file logged.
    match logs && wanted.count() > before {
        true => try_phases(&mut file, size, &PHASES[1..], wanted, budget),
        false => Ok(()),
    }
}

fn unreadable(error: io::Error) -> Misfit {
    Misfit::Unreadable(error.to_string())
}

fn try_phases(
    file: &mut File,
    size: u64,
    phases: &[Phase],
    wanted: &mut LostTexts,
    budget: &mut Budget,
) -> Result<(), Misfit> {
    for phase in phases {
        if wanted.is_done() || !budget.reads(size) {
            break;
        }
        file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        wanted.begin_phase();
        read(file, size, |text| try_run(text, *phase, wanted, budget))?;
    }
    Ok(())
}

/// Gives all texts of a file, cut to what definitions have, and returns its size and SHA-1.
fn read(file: &File, size: u64, mut each: impl FnMut(&[u8])) -> Result<(u64, [u8; 20]), Misfit> {
    let mut text = Vec::with_capacity(MOST_TEXT);
    let mut take = |piece: &[u8]| {
        let mut parts = piece.split(|byte| *byte == 0);
        let mut part = parts.next();
        while let Some(bytes) = part {
            let room = MOST_TEXT - text.len();
            text.extend_from_slice(&bytes[..bytes.len().min(room)]);
            part = parts.next();
            if part.is_some() {
                if !text.is_empty() {
                    each(&text);
                }
                text.clear();
            }
        }
    };
    let found = digest(file, size, &mut take);
    take(&[0]);
    found.map_err(unreadable)
}

/// Tries what stands between two zero bytes of a file.
fn try_run(run: &[u8], phase: Phase, wanted: &mut LostTexts, budget: &mut Budget) {
    if wanted.is_done() {
        return;
    }
    if phase == Phase::Whole {
        let text = String::from_utf8_lossy(run);
        wanted.take_names(&text);
        return wanted.try_text(&bounded(&text));
    }
    // Most of a file is code and tables: nobody logs such bytes.
    let is_control = |byte: &u8| *byte < b' ' && !matches!(byte, 7..=13 | 27);
    let Ok(text) = std::str::from_utf8(run) else {
        return;
    };
    if run.iter().any(is_control) {
        return;
    }
    match phase {
        Phase::Variants(most) => {
            return variants::try_all(text, most, wanted, &mut budget.variants);
        }
        Phase::Spans(most) => {
            return variants::try_spans(text, most, wanted, &mut budget.variants);
        }
        _ => {}
    }
    for (start, _) in text.char_indices().skip(1) {
        let end = &text[start..];
        let cost = end.len() as u64 + 64;
        if budget.ends < cost {
            return;
        }
        budget.ends -= cost;
        match phase {
            Phase::VariantsOfEnds(most) => {
                variants::try_all(end, most, wanted, &mut budget.variants);
            }
            _ => wanted.try_text(end),
        }
    }
}
