//! Each kind of condition, met by events that come meanwhile.

use nix::sys::signal::Signal;
use timeline::{Priority, event};

use super::{begin, end, finish, firings, tick, watch};
use crate::command::*;
use crate::support::Name;

#[test]
fn each_span_that_ends_is_told_with_its_thread_and_length() {
    let name = Name::new("watch-span");
    let tl = name.create(1024);
    // Short ones are met by their ends only.
    let mut watch = watch(
        &name,
        &["span engine.* < 1h"],
        &["--cooldown", "0s", "-n", "2"],
    );
    for _ in 0..2 {
        begin(&tl);
        end(&tl);
    }
    let found = firings(&mut watch, 2);
    for one in &found {
        assert_eq!(one["condition"], "span engine.* < 1h");
        assert_eq!(
            (one["name"].as_str(), one["unit"].as_str()),
            (Some("engine.breath"), Some("ns"))
        );
        assert_eq!(
            (one["tid"].as_u64(), one["open"].as_bool()),
            (Some(gettid().into()), Some(false))
        );
        let time = |field: &str| crate::json::nanos(&one[field]).unwrap();
        assert_eq!(one["value"], time("end_ns") - time("begin_ns"));
        assert_eq!(one["thread"], thread_name());
    }
    let (_, stderr) = finish(watch, 0);
    assert_eq!(
        stderr.last().unwrap(),
        "timeline: 2 firings, 0 ignored in the cooldown"
    );
}

#[test]
fn a_span_that_hangs_is_told_before_its_end_and_once() {
    let name = Name::new("watch-hung");
    let tl = name.create(1024);
    let conditions = ["span engine.breath > 10ms", "event engine.tick"];
    let mut watch = watch(&name, &conditions, &["--cooldown", "0s", "-n", "2"]);
    begin(&tl);
    let hung = &firings(&mut watch, 1)[0];
    assert_eq!(
        (hung["open"].as_bool(), hung["end_ns"].is_null()),
        (Some(true), true)
    );
    assert_eq!(hung["tid"], gettid());
    assert!(hung["value"].as_u64().unwrap() > 10_000_000);
    end(&tl);
    tick(&tl, 1);
    let (found, _) = finish(watch, 0);
    assert_eq!(found[1]["name"], "engine.tick");
}

#[test]
fn two_events_with_one_value_are_a_span_and_filters_are_about_its_end() {
    let name = Name::new("watch-between");
    let tl = name.create(1024);
    let condition = "span net.got..net.sent by id >= 0s";
    let mut watch = watch(
        &name,
        &[condition],
        &["--cooldown", "0s", "--where", "size > 10", "-n", "1"],
    );
    for (id, size) in [(1_u32, 10_u32), (2, 11)] {
        event!(tl, Priority::Info, "net", "got {id}", id);
        event!(tl, Priority::Info, "net", "sent {id} of {size}", id, size);
    }
    let found = firings(&mut watch, 1);
    assert_eq!((found[0]["key"].as_u64(), found.len()), (Some(2), 1));
    finish(watch, 0);
}

#[test]
fn an_event_with_values_is_told_and_others_are_not() {
    let name = Name::new("watch-event");
    let tl = name.create(1024);
    let condition = "event engine.* where number > 2 && number != 4";
    let mut watch = watch(&name, &[condition], &["--cooldown", "0s"]);
    (0..6).for_each(|number| tick(&tl, number));
    let found = firings(&mut watch, 2);
    assert!(found[0]["value"].is_null() && found[0]["unit"].is_null());
    watch.signal(Signal::SIGINT);
    assert_eq!(finish(watch, 0).0.len(), 2);
}

#[test]
fn rates_percentiles_and_missing_events_are_told() {
    let name = Name::new("watch-window");
    let tl = name.create(16 * 1024);
    for (condition, unit) in [
        ("rate(engine.tick, 10ms) > 1/s", "1/s"),
        ("rate(no.such, 10ms) < 1/s", "1/s"),
        ("p99(engine.breath, 10ms) >= 0s", "ns"),
        ("max(engine.breath, 10ms) >= 0s", "ns"),
        ("missing no.such for 10ms", "ns"),
    ] {
        for hold in [None, Some("20ms")] {
            let mut args = vec!["-n", "1", "--read-only"];
            args.extend(hold.iter().flat_map(|hold| ["--for", hold]));
            let mut watch = watch(&name, &[condition], &args);
            eventually(condition, || {
                begin(&tl);
                end(&tl);
                tick(&tl, 1);
                !watch.stdout_now().is_empty()
            });
            let (found, _) = finish(watch, 0);
            assert_eq!(found[0]["unit"], unit, "{condition}");
            assert!(found[0]["thread"].is_null());
        }
    }
}

#[test]
fn people_read_a_line() {
    let name = Name::new("watch-line");
    let tl = name.create(1024);
    let mut watch = Running::start(&[
        "watch",
        name.path(),
        "--when",
        "event engine.tick",
        "--when",
        "span engine.breath < 1h",
        "-n",
        "2",
        "--cooldown",
        "0s",
    ]);
    watch.stderr_until("the beginning", |lines| !lines.is_empty());
    tick(&tl, 1);
    begin(&tl);
    end(&tl);
    let (stdout, _) = watch.succeed();
    let words = format!("{} ({})", thread_name(), gettid());
    assert!(
        stdout[0].ends_with(&format!("  event engine.tick  engine.tick  {words}")),
        "{stdout:?}"
    );
    assert!(
        stdout[1].contains("  span engine.breath < 1h  engine.breath took "),
        "{stdout:?}"
    );
}
