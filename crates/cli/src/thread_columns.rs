//! The columns that `--long` adds before the others: the time, the thread and the priority.

use std::collections::HashMap;

use timeline::{
    Event, Priority, Source, Thread, ThreadRef,
    dump::{Text, printable},
};
use timeline_reading::Programs;

use crate::time::{TimeFormat, WallClock};

/// A text for each thread of a timeline, made once while there is room to keep it.
pub struct ThreadTexts<'a> {
    at: &'a dyn Source,
    // A reference identifies one thread until the record of the thread is reused. Then it
    // identifies none.
    found: HashMap<Key, usize>,
    made: Vec<String>,
    /// How often threads were renamed before.
    renames: u64,
    /// The bytes of `made`.
    length: usize,
    /// The places of some threads, so that most events need no hash.
    recent: [(Key, usize); RECENT],
}

type Key = (ThreadRef, u32);

/// A power of two, beyond the threads of most programs.
const RECENT: usize = 256;
const NOT_RECENT: (Key, usize) = ((ThreadRef(0), 0), usize::MAX);
/// Bytes that are kept: an archive may name millions of threads, each on a machine with a long
/// name.
const ROOM: usize = 32 << 20;

impl<'a> ThreadTexts<'a> {
    /// No texts yet.
    pub fn new(at: &'a dyn Source) -> ThreadTexts<'a> {
        ThreadTexts {
            at,
            found: HashMap::new(),
            made: Vec::new(),
            renames: at.renames(),
            length: 0,
            recent: [NOT_RECENT; RECENT],
        }
    }

    /// Forgets the texts if threads were renamed. Called when events were read, so that none gets a
    /// name that its thread had given up before.
    pub fn notice_renames(&mut self) {
        let renames = self.at.renames();
        if self.renames != renames {
            self.renames = renames;
            self.forget();
        }
    }

    fn forget(&mut self) {
        (self.length, self.recent) = (0, [NOT_RECENT; RECENT]);
        self.found.clear();
        self.made.clear();
    }

    /// The text of the thread that logged this event, which `make` makes if it is not kept. `make`
    /// gets the thread, if it is known.
    #[inline]
    pub fn of(
        &mut self,
        event: &Event,
        make: impl FnOnce(&Event, Option<Thread>) -> String,
    ) -> &str {
        let key = (event.thread, event.tid);
        // The lower half of a reference is an index into a table that fills up from its start.
        let recent = event.thread.0 as usize % RECENT;
        let (last, place) = self.recent[recent];
        if last == key && place < self.made.len() {
            return &self.made[place];
        }
        self.look_up(event, recent, make)
    }

    #[cold]
    fn look_up(
        &mut self,
        event: &Event,
        recent: usize,
        make: impl FnOnce(&Event, Option<Thread>) -> String,
    ) -> &str {
        let key = (event.thread, event.tid);
        if self.length > ROOM {
            self.forget();
        }
        let place = *self.found.entry(key).or_insert_with(|| {
            let made = make(event, self.at.thread(event));
            self.length += made.len();
            self.made.push(made);
            self.made.len() - 1
        });
        self.recent[recent] = (key, place);
        &self.made[place]
    }
}

/// Writes the columns that come before those of a dump.
pub struct ThreadColumns<'a> {
    at: &'a dyn Source,
    threads: ThreadTexts<'a>,
    programs: Option<Programs<'a>>,
    clock: WallClock,
}

/// Enough for names of the usual length. A longer name moves the rest of its line.
const THREAD_WIDTH: usize = 26;

impl<'a> ThreadColumns<'a> {
    /// The names of the columns.
    pub fn heading(&self) -> String {
        format!(
            "{:<29} {:<THREAD_WIDTH$} {:<8} ",
            "time", "thread", "priority"
        )
    }

    /// The columns for events of this timeline.
    pub fn new(at: &'a dyn Source) -> ThreadColumns<'a> {
        let (threads, clock) = (ThreadTexts::new(at), WallClock::new(TimeFormat::DateTime));
        ThreadColumns {
            at,
            threads,
            programs: None,
            clock,
        }
    }

    /// Adds the machine before the thread, if there are several.
    pub fn among(mut self, programs: Option<Programs<'a>>) -> ThreadColumns<'a> {
        self.programs = programs;
        self
    }

    /// Writes the columns of one event. Names are shown as far as they are printable.
    pub fn write(&mut self, event: &Event, out: &mut Text) {
        match self.at.time(event) {
            Some(nanos) => self.clock.write(nanos, out),
            None => {
                out.right((event.ticks != 0).then_some(event.ticks), 23);
                out.push(" ticks");
            }
        }
        let host = |event: &Event| self.programs.and_then(|programs| programs.host(event));
        let column = |event: &Event, thread| thread_column(event, thread, host(event));
        out.push(self.threads.of(event, column));
        let definition = self.at.definition(event.id);
        out.push(priority_column(definition.and_then(|d| d.priority)));
    }
}

fn thread_column(event: &Event, thread: Option<Thread>, host: Option<&str>) -> String {
    let column = thread_name(event, thread, host);
    format!(" {column:<THREAD_WIDTH$} ")
}

/// Machine, process, name and number of a thread, as far as they are known and printable.
pub fn thread_name(event: &Event, thread: Option<Thread>, host: Option<&str>) -> String {
    let or = |name: Option<String>| name.unwrap_or("?".to_string());
    let names = match thread {
        Some(Thread { name, process, .. }) if name == process => or(name),
        Some(Thread { name, process, .. }) => format!("{}/{}", or(process), or(name)),
        None => "?".to_string(),
    };
    let host = host.map_or(String::new(), |host| format!("{host}:"));
    let tid = event
        .known_tid()
        .map_or("?".to_string(), |tid| tid.to_string());
    printable(&format!("{host}{names} {tid}")).into_owned()
}

fn priority_column(priority: Option<Priority>) -> &'static str {
    match priority {
        Some(Priority::Error) => "error    ",
        Some(Priority::Warning) => "warning  ",
        Some(Priority::Info) => "info     ",
        Some(Priority::Trace) => "trace    ",
        Some(Priority::App) => "app      ",
        Some(Priority::Packet) => "packet   ",
        Some(Priority::Library) => "library  ",
        None => "?        ",
    }
}
