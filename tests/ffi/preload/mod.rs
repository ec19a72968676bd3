//! Tests preload.so under real programs, for which nothing may change.
//! Every call is logged, none is invented, and none is lost. Counts are compared with those of a
//! program that knows its own, and with those of tests/ffi/preload/counter.c.

mod calls;
mod latency;
mod rounds;
#[cfg(target_arch = "x86_64")]
mod vforks;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use calls::{Calls, built, compare, logged, system};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rounds::Rounds;
use timeline::{Attached, Event, Order};

use crate::support::Name;
use crate::support::toolchain::{library_dir, printed, root, run};

#[test]
fn known_calls_are_logged_exactly_in_order_and_by_the_right_thread() {
    let name = Name::new("preload");
    let printed = printed(
        logged(built().join("known"), &name).env("TIMELINE_PRELOAD_ENTRIES", "524288"),
        "build-essential",
    );
    let calls = Calls::of(&name);

    let mut expected: BTreeMap<u32, u64> = BTreeMap::new();
    let mut told: BTreeMap<&str, u64> = BTreeMap::new();
    for line in printed.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number: u64 = words[words.len() - 1].parse().expect("a number");
        if words[0] == "rounds" {
            // Ids of threads may come again.
            *expected
                .entry(words[1].parse().expect("a thread id"))
                .or_default() += number;
        } else {
            told.insert(words[0], number);
        }
    }
    assert!(expected.values().sum::<u64>() == 23 * 300, "{printed}");

    // Each thread's rounds, as text: addresses become the place where they were first seen.
    let mut rounds: BTreeMap<u32, Rounds> = BTreeMap::new();
    for event in calls.attached.events(Order::OldestFirst) {
        let message = calls.kind(&event).to_owned();
        rounds
            .entry(event.tid)
            .or_default()
            .take(&message, &event.args);
    }
    let seen: BTreeMap<u32, u64> = rounds
        .iter()
        .filter(|(_, r)| r.whole > 0)
        .map(|(tid, r)| (*tid, r.whole))
        .collect();
    assert_eq!(seen, expected);
    for (tid, rounds) in &rounds {
        assert_eq!(
            rounds.next, 0,
            "thread {tid} stopped in the middle of a round"
        );
    }

    let of_size =
        |message, size| calls.events(message).filter(|e| e.args[0] == size).count() as u64;
    assert_eq!(
        of_size("malloc of $size bytes at $address", 4801),
        told["early"]
    );
    assert_eq!(
        of_size("malloc of $size bytes at $address", 4803),
        told["late"]
    );
    assert_eq!(told["late"], 16 * 3);
    assert_eq!(
        of_size("malloc of $size bytes at $address", 4807),
        told["cancelled"]
    );
    let handled = of_size("write of $size bytes to $fd took $result", 43);
    assert_eq!(handled + calls.unlogged(), told["handler"]);
    assert!(handled > 0);
}

#[test]
fn python_with_threads_forks_and_subprocesses() {
    let (printed, calls, _name) = compare("python3", 1 << 20, |command| {
        command
            .arg(root().join("tests/ffi/preload/work.py"))
            .env("PYTHONMALLOC", "malloc")
            .env_remove("PYTHONHOME");
    });
    assert_eq!(printed, "4950\n");

    // And what the script itself knows: twelve workers, each with writes of a size of its own.
    let writes = |size| {
        let fits = move |e: &Event| e.args[0] == size && e.args[2] == size;
        calls
            .events("write of $size bytes to $fd took $result")
            .filter(fits)
            .count()
    };
    for number in (0..8).chain(10..14) {
        assert_eq!(writes(number + 1001), 200, "writes of worker {number}");
    }
    assert_eq!(writes(777), 500);
    assert_eq!(writes(42), 3);
    let failed = calls
        .events("close of $fd failed with $errno")
        .filter(|e| e.args[..2] == [1_000_000, 9]);
    assert_eq!(failed.count(), 1);
    let processes = calls.attached.info().writers.len();
    assert!(processes >= 1, "{processes} processes");
}

#[test]
fn sqlite_with_a_database_on_disk() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = folder.path().join("test.db");
    let sql = "create table t(a integer primary key, b text);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
        insert into t select i, hex(zeroblob(i % 200)) from n;
        create index u on t(b);
        delete from t where a % 3 = 0;
        vacuum;
        select count(*), sum(length(b)) from t;";
    let mut plain = Command::new(system("sqlite3"));
    let expected = printed(plain.arg(":memory:").arg(sql), "sqlite3");
    let (printed, calls, _name) = compare("sqlite3", 1 << 17, |command| {
        command.arg(&database).arg(sql);
    });
    assert_eq!(printed, expected);
    assert!(calls.events("malloc of $size bytes at $address").count() > 1000);
}

#[test]
fn a_shell_that_juggles_descriptors() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = "exec 3>three 4<three
        for i in {1..50}; do echo $i >&3; ( echo sub $i >file$i ); cat file$i >>all; done
        read -u 4 first; echo $first
        exec 3>&- 4<&-
        for fd in {3..30}; do eval \"exec $fd>&-\"; done
        wc -l <all";
    let (printed, calls, _name) = compare("bash", 1 << 18, |command| {
        command.current_dir(&folder).arg("-c").arg(script);
    });
    assert_eq!(printed.split_whitespace().collect::<Vec<_>>(), ["1", "50"]);
    assert!(calls.events("open with $flags gave $fd").count() >= 150);
}

#[test]
fn listing_a_tree() {
    let mut plain = Command::new(system("ls"));
    let directory = root().join("src");
    let expected = printed(
        plain.env("LC_ALL", "C").arg("-lR").arg(&directory),
        "coreutils",
    );
    let (printed, ..) = compare("ls", 1 << 16, |command| {
        command.arg("-lR").arg(&directory);
    });
    assert_eq!(printed, expected);
}

#[test]
fn a_program_with_a_timeline_of_its_own() {
    let own = Name::new("preload");
    let script = "local timeline = require 'timeline'
        local tl = assert(timeline.new(arg[1], 1024))
        local f = assert(tl:define('own', 'info', 'own $number'))
        for i = 1, 500 do f(i) end
        local n = 0
        for event in assert(timeline.attach(tl)):events() do
            n = n + 1 assert(event.args[1] == n)
        end
        print(n)";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("own.lua");
    fs::write(&file, script).expect("the script");
    let (printed, ..) = compare("luajit", 1 << 16, |command| {
        command
            .env("LUA_PATH", root().join("lua/?.lua"))
            .env("TIMELINE_LIBRARY", library_dir().join("libtimeline.so"))
            .arg(&file)
            .arg(own.path());
    });
    assert_eq!(printed, "500\n");
}

#[test]
fn what_a_killed_program_did_last_is_there() {
    let name = Name::new("preload");
    let mut child = logged(system("python3"), &name)
        .args([
            "-u",
            "-c",
            "import os\nn = os.open('/dev/null', 1)\nwhile True: os.write(n, b'z' * 4321)",
        ])
        .env("TIMELINE_PRELOAD_ENTRIES", "16384")
        .stdin(Stdio::null())
        .spawn()
        .expect("python3 starts");
    let lap = |attached: &Attached| attached.info().entries_written > 50_000;
    while !Attached::open(name.path()).is_ok_and(|attached| lap(&attached)) {
        assert!(
            child.try_wait().expect("its state").is_none(),
            "it ended by itself"
        );
        std::thread::yield_now();
    }
    let pid = Attached::open(name.path())
        .expect("its timeline")
        .info()
        .creator_pid;
    kill(Pid::from_raw(pid as i32), Signal::SIGKILL).expect("it can be killed");
    child.wait().expect("it ends");

    let attached = Attached::open(name.path()).expect("what it left");
    let mut last_ticks = 0;
    let mut writes = 0;
    for event in attached.events(Order::OldestFirst) {
        assert!(event.ticks >= last_ticks && attached.definition(event.id).is_some());
        last_ticks = event.ticks;
        writes += u64::from(event.args[0] == 4321 && event.args[2] == 4321);
    }
    assert!(writes > 1000, "{writes}");
    assert_eq!(attached.info().dropped.total(), 0);
}

#[test]
fn programs_have_timelines_of_their_own_unless_told_otherwise() {
    // Its number is known to the shell alone, which keeps it when it executes ls.
    let printed = printed(
        logged(system("bash"), &Name::new("preload"))
            .env_remove("TIMELINE_PRELOAD")
            .args(["-c", "echo $$; exec ls /"]),
        "build-essential",
    );
    let pid = printed.lines().next().expect("a process id");
    let name = Name::chosen(format!("/preload-{pid}"));
    // The shell became ls, which went on in the same timeline.
    assert_eq!(processes(name.path()), ["bash", "ls"]);
}

/// The names of the processes that logged to a timeline, sorted.
fn processes(path: &str) -> Vec<String> {
    let attached = Attached::open(path).unwrap_or_else(|e| panic!("{e}"));
    let mut processes: Vec<String> = attached
        .events(Order::OldestFirst)
        .filter_map(|event| attached.thread(&event))
        .filter_map(|thread| thread.process)
        .collect();
    processes.sort();
    processes.dedup();
    processes
}

#[test]
fn what_a_run_before_has_left_is_kept_and_what_a_program_becomes_goes_on() {
    let name = Name::new("preload");
    let run = |script| {
        let mut shell = logged(system("bash"), &name);
        printed(shell.args(["-c", script]), "build-essential");
    };
    run("echo; exec ls /");
    assert_eq!(processes(name.path()), ["bash", "ls"]);
    assert!(Attached::open(format!("{}.prev", name.path())).is_err());
    // A second run finds nobody there.
    run("echo; exec uname");
    assert_eq!(processes(name.path()), ["bash", "uname"]);
    assert_eq!(processes(&format!("{}.prev", name.path())), ["bash", "ls"]);
}

#[test]
fn the_level_turns_logging_off_without_counting_it_as_lost() {
    let name = Name::new("preload");
    let writer = timeline::Timeline::with_size(name.path(), 1 << 16, 1 << 16).expect("a timeline");
    writer
        .priority(timeline::Level::from(timeline::Priority::Warning))
        .expect("a level");
    printed(&mut logged(built().join("known"), &name), "build-essential");
    let calls = Calls::of(&name);
    assert_eq!(calls.unlogged(), 0);
    let mut failures = 0;
    for event in calls.attached.events(Order::OldestFirst) {
        let kind = calls.kind(&event);
        assert!(kind.contains("failed"), "{kind}");
        failures += 1;
    }
    // Six calls of each round fail.
    assert_eq!(failures, 23 * 300 * 6);
}

#[test]
fn a_program_runs_all_the_same_where_no_timeline_can_be_made() {
    let mut command = logged(system("bash"), &Name::new("preload"));
    command.env("TIMELINE_PRELOAD", "/absent/folder/timeline");
    let output = run(command.args(["-c", "echo well; (echo done)"]), "bash");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "well\ndone\n");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("/absent/folder/timeline"), "{complaint}");
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
}

#[test]
fn a_pipeline_of_programs_shares_one_timeline() {
    let name = Name::new("preload");
    let mut shell = logged(system("bash"), &name)
        .args(["-c", "sort | uniq -c | sort -n"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("bash starts");
    let mut input = shell.stdin.take().expect("its input");
    for number in 0..20_000 {
        writeln!(input, "{}", number % 7).expect("it reads");
    }
    drop(input);
    let output = shell.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 7);
    Calls::of(&name);
    let processes = processes(name.path());
    for program in ["bash", "sort", "uniq"] {
        assert!(
            processes.iter().any(|p| p == program),
            "{program} is not among {processes:?}"
        );
    }
}

/// The C library frees memory after a thread's last destructor, so every thread logs once more at
/// its end.
#[test]
fn threads_that_end_give_everything_back() {
    let name = Name::new("preload");
    let script = "import threading\nfor i in range(700):\n t = threading.Thread(target=bytes, \
     args=(5000,))\n t.start()\n t.join()";
    printed(
        logged(system("python3"), &name).args(["-c", script]),
        "python3",
    );
    let info = Calls::of(&name).attached.info();
    assert_eq!(info.dropped.total(), 0, "{:?}", info.dropped);
    assert!(
        info.thread_lanes_in_use < 10,
        "{} lanes",
        info.thread_lanes_in_use
    );
}
