//! Queries: a ring, its snapshot and its archives give the events that a naive twin gives.

mod columns;
mod imported;
mod made;
mod naive;
mod random;
mod ranges;
mod selection;
mod spelled;
mod texts;
mod unknown;
mod values;

use timeline::{Attached, Event, Layout, Order, Source, Value};
use timeline_archive::{Archive, ArchiveEvents, ArchiveOutput, Form, Fsync, Keeping, Recorder};
use timeline_search::Query;

use self::made::Made;
use self::random::{Asked, asked};
use crate::command::snapshot;
use crate::support::{Name, Random};

const QUERIES: usize = 250;

/// Any number, which is said, so that the same can be done again.
pub fn seed() -> u64 {
    let seed = match std::env::var("TIMELINE_TEST_SEED") {
        Ok(seed) => seed.parse().expect("a number"),
        Err(_) => u64::from(std::process::id()),
    };
    eprintln!("TIMELINE_TEST_SEED={seed} does the same again");
    seed
}

/// Records a timeline to its end; the archive.
fn recorded(at: &Attached, path: &str, form: Form) -> Archive {
    let keeping = Keeping {
        fsync: Fsync::Never,
        ..Keeping::default()
    };
    let mut output = ArchiveOutput::open(path, keeping).unwrap();
    let mut recorder = Recorder::new(at, &mut output, form).unwrap();
    while recorder.step() {}
    assert_eq!(recorder.finish().missed, 0);
    Archive::open(path).unwrap()
}

/// A place where events are, and these with the numbers that the program gave them.
struct Held<'a> {
    what: &'static str,
    source: &'a dyn Source,
    archive: Option<&'a Archive>,
    events: Vec<(usize, Event)>,
}

impl<'a> Held<'a> {
    fn new(
        what: &'static str,
        source: &'a dyn Source,
        events: impl Iterator<Item = Event>,
    ) -> Held<'a> {
        let numbered = events.map(|event| (number(source, &event), event));
        let events: Vec<_> = numbered.collect();
        Held {
            what,
            source,
            archive: None,
            events,
        }
    }

    /// An archive, which chooses events before they are made.
    fn archive(what: &'static str, archive: &'a Archive, order: Order) -> Held<'a> {
        Held {
            archive: Some(archive),
            ..Held::new(what, archive, archive.events_by_time(order))
        }
    }
}

/// Which event it is: the only value named `number`, or the first one of a format.
fn number(source: &dyn Source, event: &Event) -> usize {
    let definition = source.definition(event.id).unwrap();
    let place = definition.arguments().position(|name| name == "number");
    let layout = Layout::of(definition);
    match event.values(&layout).nth(place.unwrap_or(0)) {
        Some(Value::Int(number)) => number as usize,
        other => panic!("{other:?} in {definition:?}"),
    }
}

/// The numbers of the events that are wanted.
fn found(query: &Query, held: &Held) -> Vec<usize> {
    let mut filter = query.on(held.source);
    let wanted = held
        .events
        .iter()
        .filter(|(_, event)| filter.matches(event));
    let wanted: Vec<_> = wanted.map(|(number, _)| *number).collect();
    if let Some(archive) = held.archive {
        for order in [Order::OldestFirst, Order::NewestFirst] {
            let mut chosen: Vec<_> = chosen(query, archive, order)
                .map(|event| number(archive, &event))
                .collect();
            chosen.sort_unstable();
            let mut wanted = wanted.clone();
            wanted.sort_unstable();
            assert_eq!(chosen, wanted, "{} by {query:?}", held.what);
        }
    }
    let mut numbers = wanted;
    numbers.sort_unstable();
    numbers
}

/// The events of an archive that are wanted, chosen before they are made.
fn chosen<'a>(query: &'a Query, archive: &'a Archive, order: Order) -> ArchiveEvents<'a> {
    archive.events_by_time_where(order, Box::new(query.on(archive)))
}

fn agree(asked: &Asked, held: &[Held], made: &Made) -> usize {
    let (query, twin) = (asked.query(), &held[0]);
    let is_wanted = |(number, event): &&(usize, Event)| {
        let known = (*twin.source.definition(event.id).unwrap()).clone();
        let time = twin.source.time(event);
        naive::is_wanted(asked, &made.events[*number], &known, event.core, time)
    };
    let wanted = twin.events.iter().filter(is_wanted);
    let mut expected: Vec<_> = wanted.map(|(number, _)| *number).collect();
    expected.sort_unstable();
    for held in held {
        let found = found(&query, held);
        let apart = found.iter().find(|number| !expected.contains(number));
        let apart = apart.or_else(|| expected.iter().find(|number| !found.contains(number)));
        if let Some(number) = apart {
            let is_found = found.contains(number);
            let event = &made.events[*number];
            panic!("{}: found {is_found}: {event:?} by {query:?}", held.what);
        }
    }
    expected.len()
}

#[test]
fn all_kinds_of_places_give_the_events_that_the_naive_twin_gives() {
    let mut random = Random(seed());
    let (name, folder) = (Name::new("queries"), tempfile::tempdir().unwrap());
    let made = Made::log(&mut random, &name);
    let at = name.attach();
    let file = snapshot(&name, folder.path());
    let saved = Attached::open(&file).unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let blocks = recorded(&at, &path("blocks.tla"), Form::Blocks);
    let plain = recorded(&saved, &path("plain.tla"), Form::Plain);
    let held = [
        Held::new("ring", &at, at.events(Order::OldestFirst)),
        Held::new("snapshot", &saved, saved.events(Order::NewestFirst)),
        Held::archive("blocks", &blocks, Order::OldestFirst),
        Held::archive("plain", &plain, Order::NewestFirst),
    ];
    for held in &held {
        assert_eq!(held.events.len(), made.events.len(), "{}", held.what);
    }
    let between = made.quiet_moments(&at, &held[0].events);
    let (mut wanted, mut hits) = (0, 0);
    for _ in 0..QUERIES {
        let count = agree(&asked(&mut random, &made, &between), &held, &made);
        wanted += count;
        hits += usize::from(count > 0 && count < made.events.len());
    }
    // Neither all nor none, or there would be nothing to agree on.
    assert!(hits > QUERIES / 4, "{hits} queries, {wanted} events");
}
