//! A log as it was at some time. It does not change.

use std::any::Any;
use std::collections::VecDeque;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use timeline::dump::Messages;
use timeline::{Order, Source};
use timeline_archive::Archive;
use timeline_reading::{Log, Request};
use timeline_search::{Index, IndexCoverage, OpenIndex, line_count};

use super::place::shown;
use crate::error::Result;

/// The place of something that is made once.
type CacheSlot = Arc<Mutex<Option<Arc<dyn Any + Send + Sync>>>>;

/// How many things are kept that were made of a version: two for each filter that tracks are shown
/// with, counts and long spans.
const KEPT: usize = 6;

/// A log as it was at some time.
pub struct Version {
    /// Changes when the lines of the log are numbered anew. It stays if lines were appended.
    pub number: u64,
    /// The events: of an archive, because a timeline is recorded while somebody looks at it.
    pub log: Log,
    /// Whether more may come.
    pub growing: bool,
    lines: OnceLock<LineCount>,
    /// How many lines an index leaves out that covers so many lines and pages.
    rest: Mutex<Option<(IndexCoverage, u64)>>,
    /// The index as it was opened last.
    index: Mutex<Option<OpenIndex>>,
    /// What was made of it last, and of the version before it.
    kept: Mutex<VecDeque<(String, CacheSlot)>>,
    former: Mutex<VecDeque<(String, CacheSlot)>>,
    origin: VersionOrigin,
}

/// Where a version is from.
pub struct VersionOrigin {
    /// The path of the log.
    pub path: PathBuf,
    /// The directory through whose descriptor it is read. It stays open with the version.
    pub _folder: Option<Arc<File>>,
}

/// How many lines there are.
#[derive(Debug, Clone, Copy)]
pub struct LineCount {
    /// Of important events, which come first.
    pub important: u64,
    /// Of all.
    pub total: u64,
}

impl Version {
    /// `before` is the version before this one, if there was any.
    pub fn new(
        number: u64,
        archive: Archive,
        growing: bool,
        origin: VersionOrigin,
        before: Option<&Version>,
    ) -> Version {
        let former = before.filter(|before| before.number == number);
        Version {
            number,
            log: Log::of_archive(&origin.path, archive),
            growing,
            lines: OnceLock::new(),
            rest: Mutex::default(),
            index: Mutex::default(),
            kept: Mutex::default(),
            former: Mutex::new(former.map_or_else(VecDeque::new, Version::left)),
            origin,
        }
    }

    /// A version of an archive in memory.
    #[cfg(test)]
    pub fn of_bytes(bytes: &[u8], before: Option<&Version>) -> Version {
        let origin = VersionOrigin {
            path: PathBuf::new(),
            _folder: None,
        };
        Version::new(1, Archive::from_bytes(bytes), true, origin, before)
    }

    /// What was made of this version, or of those before it, for the next one.
    fn left(&self) -> VecDeque<(String, CacheSlot)> {
        let mut left = lock(&self.kept).clone();
        for (key, made) in &*lock(&self.former) {
            if left.len() < KEPT && !left.iter().any(|(known, _)| known == key) {
                left.push_front((key.clone(), Arc::clone(made)));
            }
        }
        left
    }

    /// The archive that has the events.
    pub fn archive(&self) -> &Archive {
        self.log.archive().expect("it was made of an archive")
    }

    /// A text in which the path of the log stands instead of how this process reads it.
    pub fn shown(&self, text: &str) -> String {
        shown(text, &self.origin.path)
    }

    /// The index as it is now. As long as it is the same, it is read once for all requests.
    pub fn index(&self) -> Index<'_> {
        // Held while it is opened, so that nobody else opens it as well.
        let mut opened = lock(&self.index);
        let known = opened.as_ref().and_then(|opened| opened.of(self.archive()));
        known.unwrap_or_else(|| {
            let index = Index::open(self.archive());
            *opened = Some(index.opened());
            index
        })
    }

    /// How many lines it has. The first call reads what is not indexed.
    pub fn lines(&self) -> LineCount {
        *self.lines.get_or_init(|| {
            let index = self.index();
            let (important, others) = self.count(&index);
            LineCount {
                important,
                total: important + others + index.coverage().lines,
            }
        })
    }

    /// How many lines an index leaves out. It may have become another one since it was asked last.
    pub fn rest(&self, index: &Index) -> u64 {
        let coverage = index.coverage();
        let mut rest = lock(&self.rest);
        match *rest {
            Some((known, lines)) if known == coverage => lines,
            _ => {
                let (important, others) = self.count(index);
                *rest = Some((coverage, important + others));
                important + others
            }
        }
    }

    /// The lines of important events, and of others that an index leaves out.
    fn count(&self, index: &Index) -> (u64, u64) {
        let (archive, mut messages) = (self.archive(), Messages::new(self.archive()));
        let (mut important, mut others) = (0, 0);
        let request = Request::new(Order::OldestFirst);
        for event in self.log.stream_of(request, index.rest()) {
            let lines = line_count(&messages.text(&event, archive.definition(event.id)));
            match event.important {
                true => important += lines,
                false => others += lines,
            }
        }
        (important, others)
    }

    /// What `make` makes of this version, unless that fails. It is kept, and made again if too many
    /// others came. `key` tells what it is from all others of its type. `make` gets what was made
    /// with this key of the version before.
    pub fn kept<T: Send + Sync + 'static>(
        &self,
        key: &str,
        make: impl FnOnce(Option<Arc<T>>) -> Result<T>,
    ) -> Result<Arc<T>> {
        let place = self.place(key);
        // Held while it is made, so that nobody makes it a second time. Others do not wait.
        let mut place = lock(&place);
        let found = place
            .as_ref()
            .and_then(|made| Arc::clone(made).downcast().ok());
        if let Some(found) = found {
            return Ok(found);
        }
        let made = Arc::new(make(self.of_before(key))?);
        lock(&self.former).retain(|(known, _)| known != key);
        *place = Some(Arc::clone(&made) as Arc<dyn Any + Send + Sync>);
        Ok(made)
    }

    fn of_before<T: Send + Sync + 'static>(&self, key: &str) -> Option<Arc<T>> {
        let former = lock(&self.former);
        let found = former.iter().find(|(known, _)| known == key);
        let place = found.map(|(_, place)| Arc::clone(place))?;
        drop(former);
        let made = lock(&place).clone()?;
        made.downcast().ok()
    }

    fn place(&self, key: &str) -> CacheSlot {
        let mut kept = lock(&self.kept);
        if let Some((_, found)) = kept.iter().find(|(known, _)| known == key) {
            return Arc::clone(found);
        }
        if kept.len() == KEPT {
            kept.pop_front();
        }
        let place = CacheSlot::default();
        kept.push_back((key.into(), Arc::clone(&place)));
        place
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
