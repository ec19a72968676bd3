//! A log as it was at some time. It does not change.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use timeline::dump::Messages;
use timeline::{Order, Source};
use timeline_archive::Archive;
use timeline_search::{Coverage, Index, line_count};

use crate::error::Result;

/// The place of something that is made once.
type Kept = Arc<Mutex<Option<Arc<dyn Any + Send + Sync>>>>;

/// How many things are kept that were made of a version.
const KEPT: usize = 4;

/// A log as it was at some time.
pub struct Version {
    /// Changes when the lines of the log are numbered anew. It stays if lines were appended.
    pub number: u64,
    /// The events.
    pub archive: Archive,
    /// Whether more may come.
    pub growing: bool,
    lines: OnceLock<Lines>,
    /// How many lines an index leaves out that covers so many lines and pages.
    rest: Mutex<Option<(Coverage, u64)>>,
    /// What was made of it last.
    kept: Mutex<VecDeque<(String, Kept)>>,
}

/// How many lines there are.
#[derive(Debug, Clone, Copy)]
pub struct Lines {
    /// Of important events, which come first.
    pub important: u64,
    /// Of all.
    pub total: u64,
}

impl Version {
    pub fn new(number: u64, archive: Archive, growing: bool) -> Version {
        Version {
            number,
            archive,
            growing,
            lines: OnceLock::new(),
            rest: Mutex::default(),
            kept: Mutex::default(),
        }
    }

    /// How many lines it has. The first call reads what is not indexed.
    pub fn lines(&self) -> Lines {
        *self.lines.get_or_init(|| {
            let index = Index::open(&self.archive);
            let (important, others) = self.count(&index);
            Lines {
                important,
                total: important + others + index.coverage().lines,
            }
        })
    }

    /// How many lines an index leaves out. It may have become another one since it was asked last.
    pub fn rest(&self, index: &Index) -> u64 {
        let coverage = index.coverage();
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
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
        let (archive, mut messages) = (&self.archive, Messages::new(&self.archive));
        let (mut important, mut others) = (0, 0);
        let rest = Box::new(index.rest());
        for event in archive.events_by_time_where(Order::OldestFirst, rest) {
            let lines = line_count(&messages.text(&event, archive.definition(event.id)));
            match event.important {
                true => important += lines,
                false => others += lines,
            }
        }
        (important, others)
    }

    /// What `make` makes of this version, unless that fails. It is kept, and made again if too many
    /// others came. `key` tells what it is from all others of its type.
    pub fn kept<T: Send + Sync + 'static>(
        &self,
        key: &str,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        let place = self.place(key);
        // Held while it is made, so that nobody makes it a second time. Others do not wait.
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        let found = place
            .as_ref()
            .and_then(|made| Arc::clone(made).downcast().ok());
        if let Some(found) = found {
            return Ok(found);
        }
        let made = Arc::new(make()?);
        *place = Some(Arc::clone(&made) as Arc<dyn Any + Send + Sync>);
        Ok(made)
    }

    fn place(&self, key: &str) -> Kept {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = kept.iter().find(|(known, _)| known == key) {
            return Arc::clone(found);
        }
        if kept.len() == KEPT {
            kept.pop_front();
        }
        let place = Kept::default();
        kept.push_back((key.into(), Arc::clone(&place)));
        place
    }
}
