//! No file gets larger than it may: whatever is logged, and wherever blocks and files end.

use std::path::Path;

use proptest::prelude::*;
use timeline::{Attached, EventId, Priority, Timeline, Value, lay_out};
use timeline_archive::{Archive, ArchiveOutput, Form, Keeping, Recorder};

use crate::flight::size;

/// What a program and its recorder do.
#[derive(Debug, Clone)]
enum Deed {
    /// Logs so many events, of small numbers or of any.
    Log(usize, bool),
    /// Logs an event with a text that is hard to compress.
    Text(usize),
    /// Defines an event with a message as long, and logs it.
    Define(usize),
    /// Logs from another thread.
    Thread,
    /// Overwrites all that was logged and not recorded.
    Lap,
    /// Records what is there.
    Step,
    /// Another recorder goes on.
    Restart,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (1..400usize, any::<bool>()).prop_map(|(count, any)| Deed::Log(count, any)),
        2 => (0..1400usize).prop_map(Deed::Text),
        1 => (0..3000usize).prop_map(Deed::Define),
        1 => Just(Deed::Thread),
        1 => Just(Deed::Lap),
        4 => Just(Deed::Step),
        1 => Just(Deed::Restart),
    ]
}

const ENTRIES: u64 = 2048;

struct Program {
    timeline: Timeline,
    name: String,
    number: EventId,
    text: EventId,
    random: u64,
    logged: u64,
}

impl Program {
    fn new(purpose: &str) -> Program {
        let name = format!("/timeline-test-limit-{purpose}-{}", std::process::id());
        let timeline = Timeline::with_size(&name, ENTRIES, 1 << 20).unwrap();
        let define = |message| timeline.define("test", Priority::Info, message);
        let number = define("number $a $b $c $d").unwrap();
        let text = timeline.define_printf(
            "test",
            Priority::Info,
            "%s",
            ("test.c", 7),
            &Default::default(),
        );
        Program {
            number,
            text: text.unwrap(),
            timeline,
            name,
            random: 1,
            logged: 0,
        }
    }

    fn random(&mut self) -> i64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random as i64
    }

    fn log(&mut self, count: usize, any: bool) {
        for _ in 0..count {
            let args = match any {
                true => [(); 4].map(|()| self.random()),
                false => [1, 2, 3, 4],
            };
            self.timeline.log(self.number, args);
        }
        self.logged += count as u64;
    }

    fn does(&mut self, deed: &Deed) {
        match deed {
            Deed::Log(count, any) => self.log(*count, *any),
            Deed::Text(length) => {
                let bytes: Vec<u8> = (0..*length).map(|_| self.random() as u8).collect();
                let (bytes, cut) = (&bytes[..], false);
                let payload = lay_out(&[Value::Text { bytes, cut }]);
                self.timeline.log_payload(self.text, &payload, false);
                self.logged += 1;
            }
            Deed::Define(length) => {
                let digit = |_| char::from(b'a' + (self.random() as u8 & 15));
                let message: String = (0..*length).map(digit).collect();
                // No more than there is room for.
                if let Ok(event) = self.timeline.define("more", Priority::Info, &message) {
                    self.timeline.log(event, []);
                    self.logged += 1;
                }
            }
            Deed::Thread => {
                let (timeline, number) = (&self.timeline, self.number);
                std::thread::scope(|scope| {
                    scope.spawn(|| timeline.log(number, [0, 0, 0, 0]));
                });
                self.logged += 1;
            }
            Deed::Lap => self.log(3 * ENTRIES as usize, false),
            Deed::Step | Deed::Restart => {}
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = timeline::unlink(&self.name);
    }
}

/// Has that done and recorded to files of at most `most` bytes, and returns their sizes.
fn recorded(folder: &Path, form: Form, most: u64, deeds: &[Deed]) -> Vec<u64> {
    let mut program = Program::new(&format!("{form:?}"));
    let keeping = Keeping {
        rotate_size: Some(most),
        ..Keeping::default()
    };
    let at = Attached::open(&program.name).unwrap();
    let mut missed = 0;
    for deeds in deeds.split(|deed| matches!(deed, Deed::Restart)) {
        let mut output = ArchiveOutput::open(folder, keeping).unwrap();
        let mut recorder = Recorder::new(&at, &mut output, form).unwrap();
        for deed in deeds {
            program.does(deed);
            if let Deed::Step = deed {
                while recorder.step() {}
            }
        }
        while recorder.step() {}
        missed += recorder.finish().missed;
    }
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut events = 0;
    for file in &files {
        let archive = Archive::open(file).unwrap();
        assert!(archive.damage().is_empty(), "{:?}", archive.damage());
        let held = archive.events().count() as u64;
        let size = size(file);
        assert!(
            size <= most || held <= 1,
            "{size} bytes of {most}, with {held} events"
        );
        events += held;
    }
    assert!(events <= program.logged && events + missed >= program.logged);
    files.iter().map(|file| size(file)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_file_gets_larger_than_it_may(
        most in 3_000..40_000u64,
        deeds in proptest::collection::vec(deed(), 1..40),
    ) {
        for form in [Form::Plain, Form::Blocks] {
            let folder = tempfile::tempdir().unwrap();
            recorded(folder.path(), form, most, &deeds);
        }
    }
}

#[test]
fn events_that_turn_out_larger_than_those_before_begin_a_new_file() {
    // A block of events that compress well, and then such that do not.
    let mut deeds = vec![Deed::Log(1_000, false), Deed::Step];
    for _ in 0..40 {
        deeds.extend([Deed::Log(200, true), Deed::Step]);
    }
    let folder = tempfile::tempdir().unwrap();
    let sizes = recorded(folder.path(), Form::Blocks, 64 << 10, &deeds);
    assert!(sizes.len() > 3, "{sizes:?}");
    for size in &sizes[..sizes.len() - 1] {
        assert!(*size > 56 << 10, "one ends too early: {sizes:?}");
    }
}
