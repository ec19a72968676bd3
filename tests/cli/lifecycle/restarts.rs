//! A program that starts again gets a timeline of the same size, where there is little room.

use timeline::{Attached, Order, Timeline};

use super::space::mount_small;
use crate::support::{Process, arguments, attach, checked, define, hear, say};

const NAME: &str = "/again";
const FORMER: &str = "/again.prev";
const STARTS: i64 = 10;

/// One start of the program: says how many entries it got, and waits for its end.
fn starts(given: &[String]) {
    let round = given[0].parse().expect("a number");
    let timeline = Timeline::new(NAME).expect("the least fits");
    timeline.log(define(&timeline), arguments(1, round));
    say(attach(NAME).info().entries);
    hear();
}

/// The sizes at ten starts, of which each but the last is killed. `between` is called before each.
fn sizes(mut between: impl FnMut(i64)) -> Vec<String> {
    (0..STARTS)
        .map(|round| {
            between(round);
            let mut program = Process::start(starts, &[&round.to_string()]);
            let size = program.line();
            program.kill();
            size
        })
        .collect()
}

fn is_same(sizes: &[String], expected: u64, how: &str) {
    let expected = vec![expected.to_string(); STARTS as usize];
    assert_eq!(sizes, expected, "{how}");
}

fn clear() {
    for name in [NAME, FORMER] {
        timeline::unlink(name).expect("removed");
    }
}

fn starts_again_and_again(given: &[String]) {
    let [mebibytes, expected] = [0, 1].map(|n: usize| given[n].parse::<u64>().expect("a number"));
    if !mount_small("/dev/shm", mebibytes << 20) {
        return println!("no file system can be mounted here: nothing is tested");
    }
    let first_of = |attached: &Attached| {
        let first = attached.events(Order::OldestFirst).next();
        checked(&first.expect("an event")).1
    };
    is_same(&sizes(|_| ()), expected, "after kills");
    // What the last two left is whole.
    assert_eq!([FORMER, NAME].map(|name| first_of(&attach(name))), [8, 9]);
    clear();
    let without = |_| drop(timeline::unlink(FORMER));
    is_same(&sizes(without), expected, "without the one before");
    clear();
    // One reader has what the first start left, whatever comes after.
    let mut reader: Option<Attached> = None;
    let one = |round| {
        if round == 1 {
            reader = Some(attach(NAME));
        }
    };
    is_same(&sizes(one), expected, "with a reader of the first");
    assert_eq!(first_of(&reader.expect("attached")), 0);
    clear();
    // A reader of each former timeline, until the next.
    let mut former = None;
    let each = |round| former = (round > 1).then(|| attach(FORMER));
    is_same(&sizes(each), expected, "with a reader of each");
    drop(former);
    clear();
    // Others take what is left once all three are there.
    let others = |round| {
        let most = std::fs::read_dir("/dev/shm").expect("listed").count();
        if round == 3 {
            assert_eq!(most, 2);
            let free = nix::sys::statvfs::statvfs("/dev/shm").expect("asked");
            let free = free.blocks_free() * free.fragment_size();
            let bytes = vec![1; usize::try_from(free).expect("small") - (64 << 10)];
            std::fs::write("/dev/shm/other", bytes).expect("room");
        }
    };
    is_same(&sizes(others), expected, "beside others");
}

#[test]
fn a_program_gets_the_same_size_at_each_start() {
    for (mebibytes, entries) in [("64", 1 << 18), ("230", 1 << 20), ("21", 1 << 16)] {
        let role = starts_again_and_again;
        Process::start(role, &[mebibytes, &entries.to_string()]).finish();
    }
}
