//! Too little memory: a timeline takes what its program can spare, and the kernel ends nobody.

use std::path::{Path, PathBuf};

use timeline::{Bound, Error, Timeline};

use crate::command::succeed;
use crate::support::{Name, Process, Role, arguments, attach, define, hear, say};

const MIB: u64 = 1 << 20;

/// A control group with a limit on its memory; removed when dropped.
struct Group(PathBuf);

impl Group {
    /// A group below that of this process, of either version.
    fn new(limit: u64) -> Option<Group> {
        let ours = std::fs::read_to_string("/proc/self/cgroup").ok()?;
        let group = |is_memory: fn(&str) -> bool| {
            let of = |line: &str| {
                let (_, rest) = line.split_once(':')?;
                let (controllers, group) = rest.split_once(':')?;
                is_memory(controllers).then(|| group.trim_start_matches('/').to_owned())
            };
            ours.lines().find_map(of)
        };
        let places = [
            (
                "/sys/fs/cgroup/memory",
                group(|c| c.contains("memory")),
                "memory.limit_in_bytes",
            ),
            ("/sys/fs/cgroup", group(str::is_empty), "memory.max"),
        ];
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("timeline-test-{}-{number}", std::process::id());
        for (mount, below, file) in places {
            let Some(below) = below else { continue };
            let group = Group(Path::new(mount).join(below).join(&name));
            let made = std::fs::create_dir(&group.0).is_ok();
            if made && std::fs::write(group.0.join(file), limit.to_string()).is_ok() {
                return Some(group);
            }
        }
        println!("not run: no control group with a limit on memory can be made here");
        None
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a plain name")
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// From here on, the memory of this process is that of the group.
fn enter(group: &str) {
    let file = Path::new(group).join("cgroup.procs");
    std::fs::write(file, std::process::id().to_string()).expect("entered");
}

/// Creates a timeline again and again, as a program that is restarted, and logs.
fn restarts(given: &[String]) {
    enter(&given[0]);
    let mut at_first = None;
    for round in 0..6 {
        let timeline = Timeline::new(&given[1]).expect("the least fits");
        let (event, info) = (define(&timeline), attach(&given[1]).info());
        (0..info.entries as i64).for_each(|number| timeline.log(event, arguments(round, number)));
        let info = attach(&given[1]).info();
        let bound = info.bound.map(|(bound, _)| bound);
        assert_eq!(bound, Some(Bound::ControlGroup));
        assert!(info.reduced);
        assert_eq!(info.dropped.total(), 0);
        assert_eq!(
            *at_first.get_or_insert(info.entries),
            info.entries,
            "{round}"
        );
        if round == 0 {
            say(info.entries);
            hear();
        }
    }
    // What cannot fit is an error, as where the file system is full.
    let error = Timeline::with_size(&given[1], 1 << 22, 1 << 20).err();
    let Some(Error::NoSpace {
        needed,
        free,
        bound,
        ..
    }) = &error
    else {
        panic!("{error:?}");
    };
    assert!(*bound == Bound::ControlGroup && free < needed);
    say(error.expect("refused"));
    // Nor does a snapshot end the program that takes it: it is whole, or an error.
    for number in 0..16 {
        let copy = format!("/dev/shm{}.copy-{number}", given[1]);
        match attach(&given[1]).save(&copy) {
            Ok(_) => {}
            Err(error) => return assert!(error.to_string().contains("not enough space")),
        }
    }
    panic!("there is no limit");
}

#[test]
fn a_program_in_a_small_control_group_lives_and_logs() {
    for (limit, entries) in [(24, 1 << 16), (48, 1 << 17), (64, 1 << 17), (128, 1 << 18)] {
        let name = Name::new("group");
        let Some(group) = Group::new(limit * MIB) else {
            return;
        };
        let mut child = Process::start(restarts, &[group.path(), name.path()]);
        assert_eq!(child.line(), entries.to_string(), "{limit}");
        let told = succeed(&["info", name.path()]).stdout;
        assert!(
            told.contains("left by the memory limit of the control group"),
            "{told}"
        );
        let json = succeed(&["info", "--json", name.path()]).stdout;
        assert!(json.contains("\"bound\":\"control group\""), "{json}");
        child.tell();
        let refused = child.line();
        assert!(
            refused.contains("left by the memory limit of the control group"),
            "{refused}"
        );
        child.finish();
        for number in 0..16 {
            let _ = std::fs::remove_file(name.file_beside(&format!(".copy-{number}")));
        }
        assert!(name.staged().is_empty());
    }
}

/// Creates a timeline at the word, beside others that do.
fn creates_beside_others(given: &[String]) {
    enter(&given[0]);
    say("ready");
    hear();
    let timeline = Timeline::new(&given[1]).expect("the least fits");
    timeline.log(define(&timeline), arguments(1, 1));
    say("created");
    hear();
}

#[test]
fn programs_of_one_control_group_that_start_together_live() {
    let names: Vec<_> = (0..6).map(|_| Name::new("together")).collect();
    let Some(group) = Group::new(160 * MIB) else {
        return;
    };
    let start = |name: &Name| Process::start(creates_beside_others, &[group.path(), name.path()]);
    let mut all: Vec<_> = names.iter().map(start).collect();
    for said in ["ready", "created"] {
        all.iter_mut()
            .for_each(|process| assert_eq!(process.line(), said));
        all.iter_mut().for_each(Process::tell);
    }
    all.into_iter().for_each(Process::finish);
}

/// Limits the address space of this process to what it has and so many bytes.
fn limit_addresses(more: u64) {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("read");
    let pages: u64 = pages
        .split(' ')
        .next()
        .expect("a field")
        .parse()
        .expect("a number");
    // SAFETY: sysconf only reads.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    let limit = libc::rlimit {
        rlim_cur: pages * page + more,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: a limit on this process alone.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
}

fn has_few_addresses(given: &[String]) {
    limit_addresses(100 * MIB);
    let timeline = Timeline::new(&given[0]).expect("a smaller one fits");
    timeline.log(define(&timeline), arguments(1, 1));
    let info = attach(&given[0]).info();
    assert_eq!(info.entries, 1 << 19);
    assert!(
        info.bound
            .is_some_and(|(bound, _)| bound == Bound::AddressSpace)
    );
    limit_addresses(40 * MIB);
    let error = Timeline::with_size(&given[1], 1 << 20, 1 << 20).err();
    let bound = match &error {
        Some(Error::NoSpace { bound, .. }) => bound,
        _ => panic!("{error:?}"),
    };
    assert_eq!(*bound, Bound::AddressSpace);
}

#[test]
fn a_limit_on_the_address_space_bounds_a_timeline() {
    let (name, other) = (Name::new("addresses"), Name::new("addresses"));
    let role: Role = has_few_addresses;
    Process::start(role, &[name.path(), other.path()]).finish();
    assert!(other.staged().is_empty() && !other.file().exists());
}
