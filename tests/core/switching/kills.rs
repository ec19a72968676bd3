//! Processes that are killed while they switch events.

use std::time::Duration;

use timeline::{Control, Error, EventId, Priority, Timeline};

use super::{EVENTS, Model, PATTERNS, Step, define};
use crate::support::{Name, Process, Random, say};

/// Two lists of rules, of which no word and no level is the other's.
const LISTS: [&str; 2] = ["packet,+a_b.*,engine=none", "error,net=library,-*.sent"];

/// Switches for ever, between two lists of rules.
fn switch_for_ever(given: &[String]) {
    let control = Control::open(&given[0]).expect("attached");
    say("ready");
    for text in LISTS.iter().cycle() {
        control
            .switch(&text.parse().expect("rules"))
            .expect("switched");
        // The lock is not given in turn: without a pause, a definition waits for it for seconds.
        std::thread::sleep(Duration::from_micros(50));
    }
}

/// What the rules in force say of each event.
fn expected(timeline: &Timeline, ids: &[EventId]) -> Vec<bool> {
    let text = timeline.rules().to_string();
    let mut model = Model::default();
    assert!(LISTS.contains(&text.as_str()), "{text}");
    let packet = text == LISTS[0];
    let at = |pattern: &str| PATTERNS.iter().position(|p| *p == pattern).expect("listed");
    model.asked = match packet {
        false => vec![
            Step::Level(1),
            Step::Category(at("net"), 7),
            Step::Events(at("*.sent"), false),
        ],
        true => vec![Step::Level(6), Step::Category(at("engine"), 0)],
    };
    model.asked.extend((0..ids.len()).map(Step::Define));
    let is_on = |channel: &str| model.is_on(channel.trim_end_matches("=on"));
    let by_name = |event: usize| {
        let (.., name, channels) = EVENTS[event];
        packet && name.starts_with("a_b.") && channels.split('|').all(is_on)
    };
    (0..ids.len())
        .map(|event| by_name(event) || model.logs(event))
        .collect()
}

#[test]
fn processes_killed_while_they_switch_leave_rules_that_the_next_one_puts_in_force() {
    let name = Name::new("switching");
    let timeline = Timeline::with_size(name.path(), 256, 1 << 16).expect("created");
    timeline
        .switch(&LISTS[0].parse().expect("rules"))
        .expect("switched");
    let ids: Vec<_> = (0..EVENTS.len())
        .map(|event| define(&timeline, event))
        .collect();
    // Many, so that a kill often comes while they are brought in line.
    for i in 0..400 {
        timeline
            .define("net", Priority::Info, &format!("event {i}"))
            .expect("defined");
    }
    let mut random = Random(7);
    for round in 0..20 {
        let mut children = [0, 1].map(|_| Process::start(switch_for_ever, &[name.path()]));
        children
            .iter_mut()
            .for_each(|child| assert_eq!(child.line(), "ready"));
        // As many definitions as chance has it, while the others switch.
        for i in 0..random.below(8) {
            match timeline.define("late", Priority::Info, &format!("{round} {i}")) {
                // On a busy machine the two may keep the lock for as long as anybody waits.
                Ok(_) | Err(Error::Locked { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        children.iter_mut().for_each(Process::kill);
        // The next that takes the lock.
        timeline
            .define("next", Priority::Error, &format!("{round}"))
            .expect("defined");
        let found: Vec<_> = ids.iter().map(|id| timeline.enabled(*id)).collect();
        assert_eq!(found, expected(&timeline, &ids), "{}", timeline.rules());
    }
}

/// What a process leaves that is killed between any two instructions of a change.
#[cfg(target_arch = "x86_64")]
mod stepping {
    use std::fs::File;
    use std::mem::offset_of;
    use std::os::fd::IntoRawFd;
    use std::os::unix::fs::FileExt;
    use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

    use timeline::internal::layout::header::Header;
    use timeline::{Attached, Control, Rules, Timeline};

    use super::{EVENTS, LISTS, define, expected};
    use crate::fork::{install, trap};
    use crate::support::{Name, Process, say};

    /// The half of the header that changes, and of it what a change of the rules writes.
    const HALF: usize = 2048;
    const LEVEL: usize = offset_of!(Header, level) - HALF;
    const RULES: usize = offset_of!(Header, rules_serial) - HALF;

    /// That half, as it is and as it was after the last instruction, and where each state goes.
    static NOW: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    static BEFORE: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    static STATES: AtomicI32 = AtomicI32::new(-1);

    extern "C" fn on_step(_: libc::c_int) {
        let (now, before) = (NOW.load(Ordering::SeqCst), BEFORE.load(Ordering::SeqCst));
        let states = STATES.load(Ordering::SeqCst);
        // SAFETY: both have so many bytes, of which nobody else changes any at this time.
        unsafe {
            if libc::memcmp(now.cast(), before.cast(), HALF) != 0 {
                libc::memcpy(before.cast(), now.cast(), HALF);
                libc::write(states, before.cast(), HALF);
            }
        }
    }

    /// Switches, and writes each state of the header that was there meanwhile to a file.
    fn switches_step_by_step(given: &[String]) {
        let control = Control::open(&given[0]).expect("attached");
        let file = File::open(format!("/dev/shm{}", given[0])).expect("there");
        let map = memmap2::MmapOptions::new()
            .offset(HALF as u64)
            .len(HALF)
            .map_raw_read_only(&file)
            .expect("mapped");
        let states = File::create(&given[1]).expect("a file");
        STATES.store(states.into_raw_fd(), Ordering::SeqCst);
        let before: &mut [u8] = Box::leak(Box::new([0; HALF]));
        BEFORE.store(before.as_mut_ptr(), Ordering::SeqCst);
        NOW.store(map.as_mut_ptr(), Ordering::SeqCst);
        install(libc::SIGTRAP, on_step as *const () as usize, 0);
        let rules: Rules = LISTS[1].parse().expect("rules");
        trap(true);
        control.switch(&rules).expect("switched");
        trap(false);
        say("switched");
    }

    #[test]
    fn a_change_that_ends_after_any_instruction_leaves_one_list_or_the_other() {
        let name = Name::new("steps");
        let timeline = Timeline::with_size(name.path(), 256, 1 << 17).expect("created");
        // Not the first change: so the copy that is written next has rules, too.
        let [first, second] = LISTS.map(|list| list.parse::<Rules>().expect("rules"));
        for rules in [&second, &first] {
            timeline.switch(rules).expect("switched");
        }
        let ids: Vec<_> = (0..EVENTS.len())
            .map(|event| define(&timeline, event))
            .collect();
        let folder = tempfile::tempdir().expect("a folder");
        let states = folder.path().join("states");
        let arguments = [name.path(), states.to_str().expect("UTF-8")];
        let mut process = Process::start(switches_step_by_step, &arguments);
        assert_eq!(process.line(), "switched");
        process.finish();
        let states = std::fs::read(&states).expect("the states");
        let file = File::options().write(true).open(name.file()).expect("it");
        let attached = Attached::open(name.path()).expect("attached");
        let mut seen = Vec::new();
        for (number, state) in states.chunks_exact(HALF).enumerate() {
            // The enable bytes of the first list. Others may be there already, of this change.
            timeline.switch(&first).expect("switched");
            for part in [LEVEL..LEVEL + 4, RULES..HALF] {
                let at = (HALF + part.start) as u64;
                file.write_all_at(&state[part], at).expect("written");
            }
            // Whoever looks at it before the next process takes the lock sees the same.
            let shown = attached.info().rules.to_string();
            define(&timeline, 0);
            assert_eq!(shown, timeline.rules().to_string(), "{number}");
            // Before and after the change, the header says that nothing is left to do.
            let (serial, applied) = (&state[RULES..RULES + 8], &state[RULES + 8..RULES + 16]);
            if serial != applied {
                let found: Vec<_> = ids.iter().map(|id| timeline.enabled(*id)).collect();
                assert_eq!(found, expected(&timeline, &ids), "{number}: {shown}");
            }
            seen.push(shown);
        }
        // First the one, then the other.
        seen.dedup();
        assert_eq!(seen, LISTS);
    }
}
