//! What several tests need: a source of definitions, and events of it.

use timeline::{Definition, Event, EventId, Frame, Passage, Priority, Source, ThreadRef};

/// The events of some definitions. Thread 9 is not known.
pub struct TestDefinitions(Vec<Definition>);

impl TestDefinitions {
    /// Of the category `t`, by their numbers.
    pub fn of(messages: &[&str]) -> TestDefinitions {
        let numbered = messages.iter().enumerate();
        let define = |(number, message): (usize, &&str)| {
            Definition::new(EventId(number as u32), "t", Priority::Info, *message)
        };
        TestDefinitions(numbered.map(define).collect())
    }
}

impl Source for TestDefinitions {
    fn definition(&self, id: EventId) -> Option<&Definition> {
        self.0.get(id.0 as usize)
    }

    fn thread_of(&self, thread: ThreadRef, tid: u32) -> Option<timeline::Thread> {
        let known = timeline::Thread {
            tid,
            ..timeline::Thread::default()
        };
        (thread.0 != 9).then_some(known)
    }

    fn time(&self, event: &Event) -> Option<u64> {
        event.time.map(Into::into)
    }

    fn frame(&self, _: &Event, address: u64) -> Frame {
        Frame::unknown(address)
    }

    fn definitions(&self) -> Box<dyn Iterator<Item = &Definition> + '_> {
        Box::new(self.0.iter())
    }
}

/// An event of a thread, with `key` and 7 as its arguments.
pub fn event(id: u32, thread: u32, time: u64, key: i64) -> Event {
    Event {
        ticks: time,
        id: EventId(id),
        core: 0,
        node: 0,
        thread: ThreadRef(thread),
        tid: thread,
        args: [key, 7, 0, 0],
        payload: None,
        time: time.try_into().ok(),
        missed: 0,
        passage: Passage::default(),
        important: false,
        duration: None,
    }
}
