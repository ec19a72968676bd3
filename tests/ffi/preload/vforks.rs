//! Tests that calls of the children of vfork are counted and not logged.
//! The calls of everybody else are exact.

use std::collections::BTreeMap;

use timeline::Order;

use super::calls::{Calls, built, compare, logged};
use crate::support::Name;
use crate::support::toolchain::printed;

/// What tests/ffi/preload/vforks.c said of itself: how often each thread wrote each size, and the
/// sums.
#[derive(Default)]
struct Told {
    writes: BTreeMap<(u32, i64), u64>,
    others: u64,
    children: u64,
    failed: u64,
}

fn run(name: &Name) -> Told {
    let said = printed(
        logged(built().join("vforks"), name).env("TIMELINE_PRELOAD_ENTRIES", "262144"),
        "build-essential",
    );
    let mut told = Told::default();
    for line in said.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| -> u64 { words[at].parse().expect("a number") };
        match words[0] {
            "others" => told.others = number(1),
            "children" => told.children = number(1),
            "failed" => told.failed = number(1),
            what => {
                let sizes: &[i64] = if what == "stormed" { &[31] } else { &[37, 41] };
                for size in sizes {
                    // Ids of threads may come again.
                    *told.writes.entry((number(1) as u32, *size)).or_default() += number(2);
                }
            }
        }
    }
    assert!(told.others > 0 && told.failed > 1000, "{said}");
    told
}

#[test]
fn calls_of_vforked_children_are_counted_and_nobody_elses_harmed() {
    let name = Name::new("preload");
    let told = run(&name);
    let calls = Calls::of(&name);
    let mut writes = BTreeMap::new();
    let mut others = 0;
    for event in calls.attached.events(Order::OldestFirst) {
        let message = calls.kind(&event);
        let [size, fd, result, _] = event.args;
        match message {
            "write of $size bytes to $fd took $result" => match size {
                31 | 37 | 41 => {
                    assert!(fd > 2 && result == size, "{event:?}");
                    *writes.entry((event.tid, size)).or_default() += 1;
                }
                59 => others += 1,
                _ => assert!(size != 43, "a child's {event:?}"),
            },
            "open with $flags gave $fd" => assert_eq!(size & 0o4000, 0, "a child's {event:?}"),
            _ if message.starts_with("read") || message.starts_with("write") => {
                assert!(size != 43, "a child's {event:?}");
            }
            _ => {}
        }
    }
    assert_eq!(writes, told.writes);
    assert_eq!(others, told.others);
    assert_eq!(calls.unlogged(), told.children);
}

#[test]
fn what_is_not_enabled_is_not_missed_in_a_vforked_child() {
    let name = Name::new("preload");
    let writer = timeline::Timeline::with_size(name.path(), 1 << 16, 1 << 16).expect("a timeline");
    writer
        .priority(timeline::Level::from(timeline::Priority::Warning))
        .expect("a level");
    let told = run(&name);
    assert_eq!(Calls::of(&name).unlogged(), told.failed);
}

/// dash, which most systems have as sh, calls vfork and redirects in the child.
#[test]
fn a_shell_that_redirects_in_vforked_children() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = "for i in 1 2 3 4 5 6 7 8 9 10; do
            ls / >\"out $i\" 2>/dev/null </dev/null
            ls / 3>three 4>&3 5>five >&4
        done
        cat 'out 1' three | wc -l >both
        read lines <both
        echo done $lines";
    let (said, ..) = compare("sh", 1 << 17, |command| {
        command.current_dir(&folder).args(["-c", script]);
    });
    assert!(said.starts_with("done "), "{said}");
}
