//! Important events: kept when the ring is overwritten, and given first and once to each reader.

mod interrupted;

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

use timeline::internal::Record;
use timeline::internal::layout::{Geometry, Header};
use timeline::{
    Attached, Attributes, Error, Event, EventId, FollowFrom, Level, Order, Priority, Timeline, dump,
};

use crate::support::{Name, Process, Random, arguments, attach, checked, define, hear, say};

/// The event of [`define`], but an important one.
pub fn define_important(timeline: &Timeline) -> EventId {
    let attributes = Attributes {
        important: true,
        ..Attributes::default()
    };
    let message = "step $who $number $mixed $turned";
    let event = timeline.define_with("core", Priority::Info, message, &attributes);
    event.expect("defined")
}

fn created(name: &Name, important: u32) -> Timeline {
    let options = Timeline::options().entries(1024).string_table_size(4096);
    let made = options.important_entries(important).create(name.path());
    made.expect("created")
}

fn numbers<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<i64> {
    events.into_iter().map(|event| checked(event).1).collect()
}

/// The important events as a new reader gets them, after it was checked that they come first.
pub fn kept(attached: &Attached) -> Vec<Event> {
    let all: Vec<Event> = attached.events(Order::OldestFirst).collect();
    let end = all.partition_point(|event| event.important);
    assert!(all[end..].iter().all(|event| !event.important));
    let newest: Vec<Event> = attached.events(Order::NewestFirst).take(end).collect();
    assert!(newest.iter().rev().eq(&all[..end]));
    all[..end].to_vec()
}

/// Overwrites the whole ring many times.
fn wrap(timeline: &Timeline) {
    let event = define(timeline);
    (0..10_000).for_each(|i| timeline.log(event, arguments(1, i)));
}

#[test]
fn they_outlive_the_ring_and_come_first_and_once_to_whoever_attaches_late() {
    let name = Name::new("late");
    let timeline = created(&name, 64);
    let important = define_important(&timeline);
    (0..3).for_each(|i| timeline.log(important, arguments(0, i)));
    wrap(&timeline);
    (3..5).for_each(|i| timeline.log(important, arguments(0, i)));
    let attached = attach(name.path());
    assert_eq!(numbers(&kept(&attached)), [0, 1, 2, 3, 4]);
    let info = attached.info();
    assert_eq!((info.important_used, info.important_capacity), (5, 64));
    // They are not in the ring.
    assert_eq!(info.entries_written, 10_000);
    let mut text = Vec::new();
    dump::write(&attached, Some(2), &mut text).expect("written");
    let text = String::from_utf8(text).expect("text");
    let rows: Vec<&str> = text.lines().skip(1).collect();
    let shown = |row: &&str| row.contains("who(0)");
    assert_eq!(
        (
            rows.len(),
            rows.iter().copied().filter(|r| shown(r)).count()
        ),
        (7, 5)
    );
    assert!(rows[..5].iter().all(shown) && rows[0].contains("number(4)"));
    // The last column before the category: not the distance to an event of the ring.
    assert!(
        rows[4].split_whitespace().nth(2) == Some("-"),
        "{}",
        rows[4]
    );
}

#[test]
fn a_follower_gets_them_first_and_once_wherever_it_starts() {
    let name = Name::new("follow");
    let timeline = created(&name, 64);
    let (plain, important) = (define(&timeline), define_important(&timeline));
    timeline.log(plain, arguments(1, 0));
    (0..3).for_each(|i| timeline.log(important, arguments(0, i)));
    let attached = attach(name.path());
    for (from, of_ring) in [
        (FollowFrom::Start, 1),
        (FollowFrom::Oldest, 1),
        (FollowFrom::Newest(9), 1),
        (FollowFrom::Newest(0), 0),
        (FollowFrom::Now, 0),
    ] {
        let mut follow = attached.follow(from);
        let mut out = Vec::new();
        assert_eq!(follow.poll(&mut out), 0);
        assert_eq!(numbers(&out[..3]), [0, 1, 2], "{from:?}");
        assert_eq!(out[3..].iter().filter(|e| !e.important).count(), of_ring);
        assert_eq!(out.len(), 3 + of_ring, "{from:?}");
    }
    let mut follow = attached.follow(FollowFrom::Now);
    follow.leave_out(|number| number < 2);
    let placed = |follow: &mut timeline::Follow| {
        follow.poll_placed();
        let events = std::iter::from_fn(|| follow.next_placed());
        let place =
            |p: timeline::internal::PlacedEvent| (p.lane, p.number, p.next, p.event.important);
        events.map(place).collect::<Vec<_>>()
    };
    assert_eq!(placed(&mut follow), [(1 << 15, 2, 3, true)]);
    timeline.log(plain, arguments(1, 1));
    timeline.log(important, arguments(0, 3));
    assert_eq!(follow.unread(), 2);
    let found = placed(&mut follow);
    assert_eq!((found.len(), found[0]), (2, (1 << 15, 3, 4, true)));
    assert!(!found[1].3 && placed(&mut follow).is_empty());
    assert_eq!(follow.left_of(&follow.committed()), 0);
}

#[test]
fn a_full_region_drops_what_does_not_fit_and_counts_it() {
    let name = Name::new("full");
    let timeline = created(&name, 4);
    let important = define_important(&timeline);
    let long = Attributes {
        important: true,
        ..Attributes::default()
    };
    let long = timeline.define_with("core", Priority::Info, "long", &long);
    let long = long.expect("defined");
    timeline.log(important, arguments(0, 0));
    // Four entries, of which three are left; then three, which fit.
    timeline.log_payload(long, &[9; 5 + 3 * 6], false);
    assert_eq!(timeline.dropped_important(), 1);
    timeline.log_payload(long, &[7; 5 + 2 * 6], false);
    assert_eq!(timeline.dropped_important(), 1);
    timeline.log(important, arguments(0, 1));
    let attached = attach(name.path());
    let kept = kept(&attached);
    assert_eq!((kept.len(), kept[0].args), (2, arguments(0, 0)));
    let payload = kept[1].payload.as_ref().expect("a payload");
    assert_eq!(payload.values, 7_u64.to_le_bytes().repeat(5 + 2 * 6));
    let info = attached.info();
    assert_eq!((info.dropped.important, info.dropped.total()), (2, 2));
    assert_eq!((info.important_used, info.important_capacity), (4, 4));
    // The ring goes on.
    timeline.log(define(&timeline), arguments(1, 0));
    assert_eq!(attached.info().entries_written, 1);
}

#[test]
fn a_snapshot_has_them_and_so_has_its_copy() {
    let name = Name::new("saved");
    let timeline = created(&name, 64);
    let important = define_important(&timeline);
    (0..3).for_each(|i| timeline.log(important, arguments(0, i)));
    wrap(&timeline);
    let folder = tempfile::tempdir().expect("a folder");
    let (file, copy) = (folder.path().join("one"), folder.path().join("two"));
    let saved = timeline.save(&file).expect("saved");
    timeline.log(important, arguments(0, 3));
    let attached = Attached::open(&file).expect("readable");
    assert_eq!(numbers(&kept(&attached)), [0, 1, 2]);
    assert_eq!(
        attached.events(Order::OldestFirst).count() as u64,
        saved.events
    );
    attached.save(&copy).expect("saved");
    let copied = Attached::open(&copy).expect("readable");
    assert_eq!(kept(&copied), kept(&attached));
    assert_eq!(copied.info().important_used, 3);
}

#[test]
fn an_entry_that_was_taken_and_not_written_is_passed_over_until_it_is() {
    let name = Name::new("hole");
    let timeline = created(&name, 64);
    let important = define_important(&timeline);
    timeline.log(important, arguments(0, 0));
    // As if a writer had been killed, or interrupted for long, between taking two entries and the
    // commit.
    let file = OpenOptions::new().read(true).write(true).open(name.file());
    let file = file.expect("there");
    let bytes = std::fs::read(name.file()).expect("read");
    let region = Geometry::load(&Header::of(&bytes))
        .expect("sound")
        .important();
    let taken = std::mem::offset_of!(Header, important_taken) as u64;
    file.write_all_at(&3_u64.to_le_bytes(), taken)
        .expect("written");
    timeline.log(important, arguments(0, 1));
    let attached = attach(name.path());
    assert_eq!(numbers(&kept(&attached)), [0, 1]);
    let mut follow = attached.follow(FollowFrom::Now);
    let mut out = Vec::new();
    follow.poll(&mut out);
    assert_eq!(numbers(&out), [0, 1]);
    assert_eq!(follow.poll(&mut out), 0);
    assert_eq!((out.len(), follow.unread()), (2, 0));
    let folder = tempfile::tempdir().expect("a folder");
    let saved = folder.path().join("saved");
    timeline.save(&saved).expect("saved");
    assert_eq!(
        numbers(&kept(&Attached::open(&saved).expect("readable"))),
        [0, 1]
    );
    // The writer goes on: a copy of the first event, with ticks of its own, which come last.
    let mut entry = [0; 64];
    file.read_exact_at(&mut entry, region.at(0_u32))
        .expect("read");
    file.write_all_at(&entry[8..], region.at(2_u32) + 8)
        .expect("written");
    follow.poll(&mut out);
    assert_eq!(out.len(), 2, "not committed yet");
    file.write_all_at(&entry[..8], region.at(2_u32))
        .expect("written");
    out.clear();
    follow.poll(&mut out);
    assert_eq!(numbers(&out), [0]);
    follow.poll(&mut out);
    assert_eq!((out.len(), kept(&attached).len()), (1, 3));
}

#[test]
fn they_follow_the_level_and_are_events_of_their_own() {
    let name = Name::new("level");
    let timeline = created(&name, 64);
    let (plain, important) = (define(&timeline), define_important(&timeline));
    assert_ne!(plain, important);
    assert_eq!(
        (define(&timeline), define_important(&timeline)),
        (plain, important)
    );
    let byte = |event: EventId| {
        let (table, events) = timeline.enable_table();
        assert!(event.0 < events);
        // SAFETY: inside the table, which is mapped as long as the timeline is open.
        unsafe { *table.add(event.0 as usize) }
    };
    assert_eq!((byte(plain), byte(important)), (1, 2));
    assert!(timeline.enabled(important));
    timeline
        .priority(Level::from(Priority::Error))
        .expect("set");
    assert_eq!((byte(plain), byte(important)), (0, 0));
    timeline.log(important, arguments(0, 0));
    timeline.priority(Level::ALL).expect("set");
    assert_eq!((byte(plain), byte(important)), (1, 2));
    timeline.log(important, arguments(0, 1));
    assert_eq!(numbers(&kept(&attach(name.path()))), [1]);
    for wrong in [0, 65_537] {
        let options = Timeline::options().entries(256).important_entries(wrong);
        let error = options.create(Name::new("wrong").path()).err();
        assert!(matches!(error, Some(Error::BadSize { .. })), "{error:?}");
    }
}

/// Logs important events of several threads, and then says so.
fn logs_important(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define_important(&timeline);
    let first: i64 = given[1].parse().expect("a number");
    say("ready");
    hear();
    std::thread::scope(|scope| {
        for who in first..first + 3 {
            let timeline = &timeline;
            scope.spawn(move || (0..200).for_each(|i| timeline.log(event, arguments(who, i))));
        }
    });
    say("done");
    hear();
}

#[test]
fn of_several_processes_nothing_is_lost_and_nothing_comes_twice() {
    let name = Name::new("several");
    let timeline = created(&name, 4096);
    let start = |first| Process::start(logs_important, &[name.path(), first]);
    let mut writers = ["0", "10", "20", "30"].map(start);
    writers
        .iter_mut()
        .for_each(|w| assert_eq!(w.line(), "ready"));
    let attached = attach(name.path());
    let mut follow = attached.follow(FollowFrom::Now);
    let mut followed = Vec::new();
    writers.iter_mut().for_each(Process::tell);
    while followed.len() < 4 * 3 * 200 {
        follow.poll(&mut followed);
    }
    writers
        .iter_mut()
        .for_each(|w| assert_eq!(w.line(), "done"));
    follow.poll(&mut followed);
    let mut found: Vec<_> = followed.iter().map(checked).collect();
    let mut expected: Vec<_> = [0, 10, 20, 30]
        .into_iter()
        .flat_map(|first| (first..first + 3).flat_map(|who| (0..200).map(move |i| (who, i))))
        .collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let tids: HashSet<u32> = followed.iter().map(|event| event.tid).collect();
    assert_eq!(tids.len(), 12);
    let mut again: Vec<_> = kept(&attached).iter().map(checked).collect();
    again.sort_unstable();
    assert_eq!(again, expected);
    let info = attached.info();
    assert_eq!((info.entries_written, info.dropped.total()), (0, 0));
    drop(timeline);
}

/// Logs important events until it is killed, and counts those that were logged in a file.
fn logs_until_killed(given: &[String]) {
    let timeline = Timeline::open(&given[0]).expect("joined");
    let event = define_important(&timeline);
    let who: i64 = given[1].parse().expect("a number");
    let counter = OpenOptions::new().write(true).open(&given[2]);
    let counter = counter.expect("there");
    say("ready");
    // All writers together log less than there is room for, however late they are killed.
    for i in 0..3000 {
        timeline.log(event, arguments(who, i));
        counter
            .write_all_at(&(i + 1).to_le_bytes(), 0)
            .expect("written");
    }
    loop {
        std::thread::park();
    }
}

#[test]
fn what_killed_writers_had_logged_stays_whole() {
    let name = Name::new("killed");
    let timeline = created(&name, 65_536);
    let folder = tempfile::tempdir().expect("a folder");
    let attached = attach(name.path());
    let mut random = Random(std::process::id().into());
    let mut follow = attached.follow(FollowFrom::Now);
    let (mut followed, mut logged) = (Vec::new(), Vec::new());
    for who in 0..20 {
        let path = folder.path().join(who.to_string());
        let file = File::create(&path).expect("made");
        file.write_all_at(&[0; 8], 0).expect("written");
        let path = path.to_str().expect("plain");
        let mut writer = Process::start(logs_until_killed, &[name.path(), &who.to_string(), path]);
        assert_eq!(writer.line(), "ready");
        let enough = followed.len() + random.below(200) as usize;
        while followed.len() < enough {
            follow.poll(&mut followed);
        }
        writer.kill();
        let count = std::fs::read(path).expect("read");
        let count = i64::from_le_bytes(count[..8].try_into().expect("eight bytes"));
        logged.push(count);
    }
    follow.poll(&mut followed);
    let kept = kept(&attached);
    assert_eq!(kept.len(), followed.len());
    for (who, count) in (0..).zip(logged) {
        let of_it = kept.iter().filter(|event| checked(event).0 == who);
        let found = numbers(of_it);
        // The last may have been committed, and not been counted.
        assert!(
            found.iter().copied().eq(0..found.len() as i64),
            "{who}: {found:?}"
        );
        let more = found.len() as i64 - count;
        assert!((0..=1).contains(&more), "{who}: {count}, {more} more");
    }
    assert_eq!(attached.info().dropped.important, 0);
    drop(timeline);
}
