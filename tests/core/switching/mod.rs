//! Which events are logged, against a naive model of all that was asked for.

mod kills;

use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use proptest::prelude::*;
use timeline::internal::Record;
use timeline::internal::layout::header::Header;
use timeline::internal::layout::records;
use timeline::internal::layout::{Geometry, MAX_ENTRIES};
use timeline::{
    Attached, Attributes, Control, Definition, Error, EventId, Level, Priority, Rules, Timeline,
};

use crate::support::{Name, Random};

/// An event: category, priority, message, name and channels.
type Event = (
    &'static str,
    Priority,
    &'static str,
    &'static str,
    &'static str,
);

const EVENTS: [Event; 10] = [
    ("net", Priority::Error, "lost $n", "net.lost", ""),
    ("net", Priority::Info, "sent: $len to $x", "net.sent", ""),
    (
        "net",
        Priority::Packet,
        "got packet $len",
        "net.got_packet",
        "",
    ),
    (
        "engine",
        Priority::Trace,
        "$n idle loops",
        "engine.n_idle_loops",
        "",
    ),
    (
        "engine",
        Priority::Packet,
        "got packet $len",
        "engine.got_packet",
        "",
    ),
    (
        "engine",
        Priority::Library,
        "engine",
        "engine.engine",
        "itv",
    ),
    ("a b", Priority::App, "sent", "a_b.sent", "itv|bbc"),
    ("a b", Priority::Warning, "...", "a_b._", "ard=on"),
    ("a b", Priority::Info, "on air", "a_b.on_air", "ard|itv"),
    ("a b", Priority::Info, "off air", "a_b.off_air", "bbc=on"),
];

const CHANNELS: [&str; 3] = ["itv", "bbc", "ard"];

const PATTERNS: [&str; 10] = [
    "net",
    "engine",
    "*",
    "e?gine",
    "a_b",
    "net.*",
    "*.sent",
    "engine.got_packet",
    "*_*",
    "zzz*",
];

/// The plainest way to match: try everything.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    match pattern {
        [] => text.is_empty(),
        [b'*', rest @ ..] => (0..=text.len()).any(|taken| matches(rest, &text[taken..])),
        [one, rest @ ..] => {
            !text.is_empty() && (*one == b'?' || *one == text[0]) && matches(rest, &text[1..])
        }
    }
}

/// Something that is asked for, or done.
#[derive(Debug, Clone)]
enum Step {
    Level(u8),
    Category(usize, u8),
    Events(usize, bool),
    Channel(usize, bool),
    Define(usize),
    /// A burst begins, or the one that is on ends.
    Boost(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let (pattern, level, event) = (0..PATTERNS.len(), 0..=8_u8, 0..EVENTS.len());
    // No name of an event is without a dot.
    let may_match = |pattern: &usize| PATTERNS[*pattern].contains(['.', '*', '?']);
    let of_events = (pattern.clone()).prop_filter("a pattern of names", may_match);
    prop_oneof![
        1 => level.clone().prop_map(Step::Level),
        3 => (pattern.clone(), level.clone()).prop_map(|(p, l)| Step::Category(p, l)),
        3 => (of_events, any::<bool>()).prop_map(|(p, on)| Step::Events(p, on)),
        3 => (0..CHANNELS.len(), any::<bool>()).prop_map(|(c, on)| Step::Channel(c, on)),
        4 => event.prop_map(Step::Define),
        1 => level.prop_map(Step::Boost),
    ]
}

/// All that was asked for, in order, and how far a sampler raises levels now.
#[derive(Default)]
struct Model {
    asked: Vec<Step>,
    boost: u8,
}

impl Model {
    /// Whether the last that switched a channel switched it on, or else a definition says on.
    fn is_on(&self, channel: &str) -> bool {
        let (mut switched, mut says_on) = (None, false);
        for step in &self.asked {
            match step {
                Step::Channel(c, on) if CHANNELS[*c] == channel => switched = Some(*on),
                Step::Define(event) => {
                    let mut channels = EVENTS[*event].4.split('|');
                    says_on |= channels.any(|c| c.strip_suffix("=on") == Some(channel));
                }
                _ => {}
            }
        }
        switched.unwrap_or(says_on)
    }

    fn logs(&self, event: usize) -> bool {
        let (_, priority, _, name, channels) = EVENTS[event];
        let mut channels = channels.split('|').filter(|name| !name.is_empty());
        if !channels.all(|channel| self.is_on(channel.trim_end_matches("=on"))) {
            return false;
        }
        let category = name.split('.').next().unwrap_or_default();
        let (mut level, mut forced) = (8, None);
        for step in &self.asked {
            let speaks =
                |pattern: usize, text: &str| matches(PATTERNS[pattern].as_bytes(), text.as_bytes());
            match step {
                Step::Level(all) => (level, forced) = (*all, None),
                Step::Category(p, of) if speaks(*p, category) => (level, forced) = (*of, None),
                Step::Events(p, on) if speaks(*p, name) => forced = Some(*on),
                _ => {}
            }
        }
        forced.unwrap_or(priority as u8 <= level.max(self.boost))
    }
}

fn level(number: u8) -> Level {
    Level::from_u8(number).expect("a level")
}

/// The rules of a step.
fn rules(step: &Step) -> Option<Rules> {
    let text = match step {
        Step::Level(number) => level(*number).to_string(),
        Step::Category(p, number) => format!("{}={}", PATTERNS[*p], level(*number)),
        Step::Events(p, true) => format!("+{}", PATTERNS[*p]),
        Step::Events(p, false) => format!("-{}", PATTERNS[*p]),
        Step::Channel(..) | Step::Define(_) | Step::Boost(_) => return None,
    };
    Some(text.parse().expect("rules"))
}

fn define(timeline: &Timeline, event: usize) -> EventId {
    let (category, priority, message, name, channels) = EVENTS[event];
    let attributes = Attributes {
        channels,
        ..Attributes::default()
    };
    let id = timeline.define_with(category, priority, message, &attributes);
    let id = id.expect("defined");
    let definition = Definition::new(id, category, priority, message);
    assert_eq!(definition.name(), name);
    id
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn each_event_follows_the_last_rule_that_speaks_of_it(
        steps in proptest::collection::vec(step(), 1..24),
    ) {
        let name = Name::new("rules");
        let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
        let control = Control::open(name.path()).expect("attached");
        let attached = Attached::open(name.path()).expect("attached");
        let (mut model, mut defined, mut sampler) = (Model::default(), Vec::new(), None);
        for (number, step) in steps.into_iter().enumerate() {
            match &step {
                Step::Define(event) => {
                    defined.push((*event, define(&timeline, *event)));
                    model.asked.push(step);
                }
                Step::Channel(channel, on) => {
                    match number % 2 {
                        0 => timeline.channel(CHANNELS[*channel], *on),
                        _ => control.channel(CHANNELS[*channel], *on),
                    }
                    .expect("switched");
                    model.asked.push(step);
                }
                Step::Boost(number) => {
                    // Its only burst, for as long as the sampler is there.
                    let hours = |n: u64| Duration::from_secs(n * 3600);
                    drop(sampler.take());
                    model.boost = *number;
                    let sampling = timeline.sample(level(*number), hours(1), hours(2));
                    sampler = Some(sampling.expect("sampled"));
                    while attached.info().boost != level(*number) {
                        std::thread::yield_now();
                    }
                    // Behind the store of the boost, the lock is held until it is in force.
                    control.switch(&Rules::default()).expect("locked");
                }
                other => {
                    let rules = rules(other).expect("rules");
                    match number % 2 {
                        0 => timeline.switch(&rules),
                        _ => control.switch(&rules),
                    }
                    .expect("switched");
                    model.asked.push(step);
                }
            }
            let rules = attached.info().rules;
            prop_assert_eq!(rules.to_string().parse::<Rules>().expect("rules"), rules.clone());
            for (event, id) in &defined {
                let logs = timeline.enabled(*id);
                prop_assert_eq!(logs, model.logs(*event), "{:?} {}", EVENTS[*event], rules);
            }
        }
        // A snapshot keeps them.
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("s");
        attached.save(&file).expect("saved");
        let saved = Attached::open(&file).expect("attached");
        prop_assert_eq!(saved.info().rules, timeline.rules());
        prop_assert_eq!(saved.info().channels, control.channels());
        for (event, id) in &defined {
            let channels = saved.definition(*id).expect("saved").channels.clone();
            let mut names: Vec<_> = channels.split('|').collect();
            let mut expected: Vec<_> = EVENTS[*event].4.split('|').collect();
            expected.iter_mut().for_each(|name| *name = name.trim_end_matches("=on"));
            names.sort();
            expected.sort();
            prop_assert_eq!(names, expected);
        }
    }
}

#[test]
fn rules_for_which_there_is_no_room_change_nothing() {
    let name = Name::new("full");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let net = define(&timeline, 0);
    let rule = |i: u32, on: bool| Rules::events(&format!("category.of_event_{i:03}"), on);
    let mut count = 0;
    let error = loop {
        match timeline.switch(&rule(count, true).expect("a rule")) {
            Ok(()) => count += 1,
            Err(error) => break error,
        }
    };
    let Error::RulesFull {
        needed, capacity, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(
        (*needed, *capacity, count),
        (20 * 22 + 19, 446, 19),
        "{error}"
    );
    assert!(error.to_string().contains("timeline priority"), "{error}");
    // One that is there already takes no more room.
    timeline
        .switch(&rule(3, false).expect("a rule"))
        .expect("replaced");
    assert!(
        timeline
            .rules()
            .to_string()
            .ends_with(",-category.of_event_003")
    );
    // A level makes room.
    timeline.priority(Level::NONE).expect("set");
    timeline
        .switch(&rule(count, true).expect("a rule"))
        .expect("room");
    assert_eq!(
        timeline.rules().to_string(),
        format!("none,+category.of_event_{count:03}")
    );
    assert!(!timeline.enabled(net));
}

#[test]
fn any_bytes_in_the_place_of_rules_are_read_and_can_be_replaced() {
    let name = Name::new("hostile");
    let timeline = Timeline::with_size(name.path(), 256, 2048).expect("created");
    let ids: Vec<_> = (0..EVENTS.len())
        .map(|event| define(&timeline, event))
        .collect();
    let file = std::fs::File::options()
        .read(true)
        .write(true)
        .open(name.file())
        .expect("the file");
    let mut head = [0; size_of::<Header>()];
    file.read_exact_at(&mut head, 0).expect("read");
    let geometry = Geometry::load(&Header::of(&head)).expect("sound");
    assert!(geometry.entries <= MAX_ENTRIES);
    let from = offset_of!(Header, rules_serial);
    let mut random = Random(11);
    for round in 0..300_u32 {
        let mut bytes = vec![0_u8; size_of::<Header>() - from];
        for byte in &mut bytes {
            *byte = match round % 3 {
                0 => random.below(256) as u8,
                1 => b"+-*?=,.ainfo"[random.below(12) as usize],
                _ => 0xff,
            };
        }
        file.write_all_at(&bytes, from as u64).expect("written");
        let rule =
            geometry.definition().at(ids[0].0) + offset_of!(records::Definition, rule) as u64;
        file.write_all_at(&[random.below(256) as u8], rule)
            .expect("written");
        let channels =
            geometry.definition().at(ids[5].0) + offset_of!(records::Definition, channels) as u64;
        let bits = random.below(u64::MAX).to_le_bytes();
        file.write_all_at(&bits, channels).expect("written");
        let attached = Attached::open(name.path()).expect("attached");
        let _ = format!("{:?} {:?}", attached.info(), attached.definition(ids[5]));
        timeline.dropped_undefined(Priority::Library);
        let folder = tempfile::tempdir().expect("a folder");
        attached.save(folder.path().join("s")).expect("saved");
        let control = Control::open(name.path()).expect("attached");
        control
            .switch(&"info,net=packet,-*.sent".parse().expect("rules"))
            .expect("switched");
        assert_eq!(attached.info().rules.to_string(), "info,net=packet,-*.sent");
        let found = [0, 1, 2, 3].map(|event| timeline.enabled(ids[event]));
        assert_eq!(found, [true, false, true, false]);
    }
}
