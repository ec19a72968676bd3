//! What events say and who says it, as an archive refers to it: defined in the file before it is.

use super::{MOST_SOURCES, RECENT, Recorder};
use timeline::{Event, EventId, Source as _, Syntax};

use crate::format::event::{Data, Kind, PRINTF, Source};
use crate::write::usual::{By, Said};

impl Recorder<'_> {
    /// Takes over what an event says, and defines what that refers to.
    pub(crate) fn define(&mut self, event: &Event) {
        let (kind, arguments) = self.kind(event.id);
        self.data.kind = kind;
        self.data.source = self.source(event);
        let pid = self.data.source.pid;
        for address in event.backtrace() {
            if !self.writer.knows_address(pid, *address) {
                self.writer.symbol(pid, &self.at.frame(event, *address));
            }
        }
        fill(event, arguments, &mut self.data);
    }

    /// What an event says, and how many arguments it has: all there is room for, if that is not known.
    fn kind(&mut self, id: EventId) -> (Kind, usize) {
        if let Some(Some(said)) = self.kinds.get(id.0 as usize) {
            return (said.kind.clone(), said.args);
        }
        self.new_kind(id)
    }

    #[cold]
    fn new_kind(&mut self, id: EventId) -> (Kind, usize) {
        let place = id.0 as usize;
        let unknown = Kind {
            event: Some(id.0.into()),
            ..Kind::default()
        };
        let Some(definition) = self.at.definition(id) else {
            // It may be soon.
            return (unknown, 4);
        };
        let kind = Kind {
            level: definition.priority.map(|priority| priority as u64),
            format: Some(self.writer.string(&definition.message)),
            category: Some(self.writer.string(&definition.category)),
            file: definition.file.as_deref().map(|f| self.writer.string(f)),
            line: definition.line.map(u64::from),
            syntax: (definition.syntax == Syntax::Printf).then_some(PRINTF),
            ..unknown
        };
        let args = definition.argument_count().min(4);
        let magic = self.writer.magic();
        // Only what is defined makes this longer.
        if self.kinds.len() <= place {
            self.kinds.resize_with(place + 1, || None);
        }
        self.kinds[place] = Some(Said::new(magic, kind.clone(), args));
        (kind, args)
    }

    /// Who logged an event.
    fn source(&mut self, event: &Event) -> Source {
        let thread = (event.thread, event.tid);
        match &self.recent[event.tid as usize % RECENT] {
            Some((recent, by)) if *recent == thread => by.source.clone(),
            _ => self.other_source(event),
        }
    }

    #[cold]
    fn other_source(&mut self, event: &Event) -> Source {
        let thread = (event.thread, event.tid);
        let made = match self.sources.get(&thread) {
            Some(made) => made.clone(),
            None => self.new_source(event),
        };
        self.recent[event.tid as usize % RECENT] = Some((thread, By::new(made.clone())));
        made
    }

    fn new_source(&mut self, event: &Event) -> Source {
        let tid = Some(event.tid.into());
        let made = match self.at.thread(event) {
            Some(thread) => Source {
                thread: thread.name.map(|name| self.writer.string(&name)),
                tid,
                pid: Some(thread.pid.into()),
                process: thread.process.map(|name| self.writer.string(&name)),
            },
            None => Source {
                tid,
                ..Source::default()
            },
        };
        if self.sources.len() >= MOST_SOURCES {
            self.forget_sources();
        }
        self.sources.insert((event.thread, event.tid), made.clone());
        made
    }

    pub(crate) fn forget_sources(&mut self) {
        self.sources.clear();
        self.recent.fill(None);
    }
}

/// What an event says: integers of its own, or a payload.
fn fill(event: &Event, arguments: usize, data: &mut Data) {
    data.args.clear();
    data.payload.clear();
    data.backtrace.clear();
    match &event.payload {
        None => data.args.extend(&event.args[..arguments]),
        Some(payload) => {
            data.payload.extend(&payload.values);
            data.backtrace.extend(&payload.backtrace);
        }
    }
}
