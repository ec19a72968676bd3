//! A log as it was at some time. It does not change.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use timeline::dump::Messages;
use timeline::{Order, Source};
use timeline_archive::Archive;
use timeline_search::{Index, line_count};

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
    /// What was made of it last.
    kept: Mutex<VecDeque<(String, Arc<dyn Any + Send + Sync>)>>,
}

/// How many lines there are.
#[derive(Debug, Clone, Copy)]
pub struct Lines {
    /// Of important events, which come first.
    pub important: u64,
    /// Of those that are not indexed, with these.
    pub rest: u64,
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
            kept: Mutex::default(),
        }
    }

    /// How many lines it has. The first call reads what is not indexed.
    pub fn lines(&self) -> Lines {
        *self.lines.get_or_init(|| {
            let index = Index::open(&self.archive);
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
            Lines {
                important,
                rest: important + others,
                total: important + others + index.coverage().lines,
            }
        })
    }

    /// What `make` makes of this version. It is kept, and made again if too many others came.
    /// `key` tells what it is from all others of its type.
    pub fn kept<T: Send + Sync + 'static>(&self, key: &str, make: impl FnOnce() -> T) -> Arc<T> {
        // Held while it is made, so that nobody makes it a second time.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().filter(|(known, _)| known == key);
        let mut found = found.filter_map(|(_, made)| Arc::clone(made).downcast().ok());
        if let Some(found) = found.next() {
            return found;
        }
        let made = Arc::new(make());
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((key.into(), Arc::clone(&made) as Arc<dyn Any + Send + Sync>));
        made
    }
}
