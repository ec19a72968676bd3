//! Recording a live ring: nothing twice, nothing left out, whatever happens to the recorder.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::Signal;
use timeline::{Order, Priority};
use timeline_archive::Archive;

use crate::flight::{Flight, eventually, first_arguments, said, size};
use crate::samples::frames;
use crate::support::copy_program;

#[test]
fn a_file_cut_anywhere_is_continued() {
    for form in [&["--plain"][..], &[]] {
        let mut flight = Flight::new(&format!("cut{}", form.len()), 1024);
        flight.log(40);
        flight.land(form);
        let whole = fs::read(flight.file()).unwrap();
        let expected: Vec<i64> = (0..40).collect();
        for cut in (0..whole.len()).step_by(1 + whole.len() / 64) {
            fs::write(flight.file(), &whole[..cut]).unwrap();
            assert_eq!(
                first_arguments(&flight.land(form)),
                expected,
                "cut at {cut}"
            );
            let archive = Archive::open(flight.file()).unwrap();
            assert_eq!(archive.missed(), 0, "cut at {cut}");
        }
    }
}

#[test]
fn what_was_overwritten_is_counted_and_recorded() {
    for form in [&["--plain"][..], &[]] {
        let mut flight = Flight::new(&format!("missed{}", form.len()), 1024);
        flight.log(100);
        let recorder = flight.start(form);
        eventually("the file to begin", || size(&flight.file()) > 0);
        let (status, said) = recorder.stop(Signal::SIGINT);
        assert!(status.success(), "{said}");
        assert_eq!(
            first_arguments(&flight.events()),
            (0..100).collect::<Vec<_>>()
        );
        flight.log(5_000);
        let events = flight.land(form);
        let archive = Archive::open(flight.file()).unwrap();
        assert!(archive.missed() > 3_000, "{}", archive.missed());
        assert_eq!(archive.missed() + events.len() as u64, 5_100);
        let mut all = first_arguments(&events);
        all.dedup();
        assert_eq!(all.len(), events.len());
        assert_eq!(all.last(), Some(&5_099));
    }
}

#[test]
fn a_recorded_event_says_what_the_ring_said() {
    let mut flight = Flight::new("says", 1024);
    flight.log(3);
    let timeline = flight.timeline.as_ref().unwrap();
    let attached = timeline::Attached::open(&flight.name).unwrap();
    let live: Vec<_> = attached.events(Order::OldestFirst).collect();
    let thread = attached.thread(&live[1]).expect("this thread");
    assert_eq!(
        live[1].id,
        timeline
            .define("test", Priority::Info, "number $n of $all")
            .unwrap()
    );
    let events = flight.land(&[]);
    let (event, live) = (&events[1], &live[1]);
    assert_eq!(
        event.definition.message.as_deref(),
        Some("number $n of $all")
    );
    assert_eq!(event.definition.category.as_deref(), Some("test"));
    assert_eq!(event.definition.priority, Some(Priority::Info));
    assert_eq!(event.thread.name.as_deref(), thread.name.as_deref());
    assert_eq!(event.thread.process.as_deref(), thread.process.as_deref());
    assert_eq!(event.thread.pid, Some(std::process::id().into()));
    assert_eq!(event.thread.tid, Some(live.tid.into()));
    assert_eq!((event.ticks, &event.args), (Some(live.ticks), &vec![1, -1]));
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let age = now.as_nanos() as u64 - event.unix_nanos.expect("a time");
    assert!(age < 60_000_000_000, "{age} ns ago");
    let archive = Archive::open(flight.file()).unwrap();
    let preamble = &archive.preambles()[0];
    let exe = std::env::current_exe().unwrap();
    assert_eq!(preamble.path.as_deref(), exe.to_str());
    assert_eq!(preamble.size, Some(fs::metadata(&exe).unwrap().len()));
    assert_eq!(preamble.pid, Some(std::process::id().into()));
}

#[test]
fn other_files_and_a_second_recorder_are_refused() {
    let mut flight = Flight::new("refused", 1024);
    flight.log(1);
    let recorder = flight.start(&[]);
    eventually("the file to begin", || size(&flight.file()) > 0);
    let output = flight.command(&[]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said(&output).contains("another recorder"),
        "{}",
        said(&output)
    );
    assert!(recorder.stop(Signal::SIGTERM).0.success());

    let mut other = Flight::new("refused-other", 1024);
    other.log(1);
    let before = other.land(&[]);
    for content in [fs::read(other.file()).unwrap(), b"my diary".to_vec()] {
        fs::write(flight.file(), &content).unwrap();
        let output = flight.command(&[]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(
            said(&output).contains("was not changed"),
            "{}",
            said(&output)
        );
        assert_eq!(fs::read(flight.file()).unwrap(), content);
    }
    assert_eq!(before.len(), 1);
}

#[test]
fn verify_tells_and_repair_leaves_out_what_is_damaged() {
    let mut flight = Flight::new("verify", 1024);
    flight.log(200);
    flight.land(&["--plain"]);
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
        command
            .args(args)
            .current_dir(flight.folder.path())
            .output()
            .unwrap()
    };
    let json =
        |output: &Output| -> serde_json::Value { serde_json::from_slice(&output.stdout).unwrap() };
    let whole = run(&["verify", "flight.tla", "--json"]);
    assert_eq!(whole.status.code(), Some(0), "{}", said(&whole));
    assert_eq!(json(&whole)["events"], 200);

    let mut bytes = fs::read(flight.file()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(flight.file(), &bytes).unwrap();
    let damaged = run(&["verify", "flight.tla", "--json"]);
    assert_eq!(damaged.status.code(), Some(1));
    assert!(said(&damaged).contains("is damaged"), "{}", said(&damaged));
    assert_eq!(json(&damaged)["events"], 199);
    let range = json(&damaged)["damage"][0].clone();
    let (start, end) = (range[0].as_u64().unwrap(), range[1].as_u64().unwrap());
    assert!((start..end).contains(&(middle as u64)));

    let repaired = run(&["repair", "flight.tla", "-o", "whole.tla"]);
    assert!(repaired.status.success(), "{}", said(&repaired));
    let again = run(&["verify", "whole.tla"]);
    assert_eq!(again.status.code(), Some(0), "{}", said(&again));
    let text = String::from_utf8(again.stdout).unwrap();
    assert!(text.contains("199 recoverable"), "{text}");
    let archive = Archive::open(flight.folder.path().join("whole.tla")).unwrap();
    assert_eq!(
        (archive.missed(), archive.gone()),
        (1, 0),
        "the copy counts it"
    );
    // Nothing is overwritten.
    assert_eq!(
        run(&["repair", "flight.tla", "-o", "whole.tla"])
            .status
            .code(),
        Some(1)
    );
}

#[test]
fn what_can_be_nothing_to_record_or_to_record_to_is_said_at_once() {
    let mut flight = Flight::new("neither", 1024);
    flight.log(1);
    let record = |name: &str, output: &std::path::Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
        let output = command
            .args(["record", name, "--once", "-o"])
            .arg(output)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(said(&output).lines().count(), 1, "{}", said(&output));
        said(&output)
    };
    let folder = flight.folder.path().to_path_buf();
    let diary = folder.join("diary");
    fs::write(&diary, "my diary").unwrap();
    // No timeline: no file is begun either.
    assert!(record(diary.to_str().unwrap(), &flight.file()).contains("is not a timeline"));
    assert!(!flight.file().exists());
    let fifo = folder.join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for neither in [&fifo, &"/dev/null".into()] {
        assert!(record(&flight.name, neither).contains("this is neither"));
    }
    // Through a link, what it leads to stays as it was.
    let link = folder.join("link");
    std::os::unix::fs::symlink("diary", &link).unwrap();
    assert!(record(&flight.name, &link).contains("was not changed"));
    assert_eq!(fs::read(&diary).unwrap(), b"my diary");
    assert!(record(&flight.name, &folder.join("no/such.tla")).contains("No such file"));
}

/// On which cores a thread may run, by the file of its status.
fn cores(status: &Path) -> String {
    let status = fs::read_to_string(status).unwrap();
    let mut lines = status.lines();
    let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.unwrap().trim().to_string()
}

#[test]
fn a_recorder_stays_on_the_core_that_it_is_given() {
    let mut flight = Flight::new("core", 1024);
    let usable = cores(Path::new("/proc/thread-self/status"));
    for no_core in ["1000000", "-1", "one"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
        // Otherwise it would fail because of the file.
        command.args(["record", "/proc/self/status", "--cpu", no_core, "-o"]);
        let output = command.arg(flight.file()).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(no_core), "{said}");
        let names_others = said.contains(&format!("may use ({usable})"));
        assert_eq!(names_others, no_core == "1000000", "{said}");
        assert!(!flight.file().exists());
    }

    flight.log(10);
    let core = usable.rsplit([',', '-']).next().unwrap();
    let recorder = flight.start(&["--cpu", core]);
    flight.until_recorded();
    let threads = fs::read_dir(format!("/proc/{}/task", recorder.pid())).unwrap();
    let status = threads.map(|thread| thread.unwrap().path().join("status"));
    let pinned: Vec<String> = status.map(|status| cores(&status)).collect();
    assert!(
        !pinned.is_empty() && pinned.iter().all(|cores| cores == core),
        "{pinned:?}"
    );
    assert!(recorder.stop(Signal::SIGINT).0.success());
}

#[test]
fn a_run_whose_preamble_was_destroyed_is_continued() {
    for (output, purpose) in [("flight.tla", "magic"), ("flights/", "magic-files")] {
        let mut flight = Flight::not_there(purpose, 1024, output);
        flight.restart();
        flight.log(100);
        let recorder = flight.start(&[]);
        flight.until_recorded();
        assert!(recorder.stop(Signal::SIGTERM).0.success());
        let file = flight.files()[0].clone();
        let mut bytes = fs::read(&file).unwrap();
        bytes[20] ^= 1;
        fs::write(&file, &bytes).unwrap();
        flight.log(100);
        flight.timeline = None;
        let output = flight.command(&["--once"]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let archive = Archive::open(&file).unwrap();
        assert_eq!(archive.damage().len(), 1);
        assert_eq!(archive.preambles().len(), 1, "it is introduced again");
        let events: Vec<_> = archive.events().collect();
        assert_eq!(first_arguments(&events), flight.expected());
        assert_eq!(archive.missed(), 0);
    }
}

#[test]
fn a_file_damaged_in_the_middle_is_continued_behind_it() {
    let mut flight = Flight::new("middle", 1024);
    flight.log(40);
    let recorder = flight.start(&["--plain"]);
    flight.until_recorded();
    assert!(recorder.stop(Signal::SIGTERM).0.success());
    let whole = fs::read(flight.file()).unwrap();
    flight.log(10);
    flight.timeline = None;
    let places = frames(&whole);
    let (_, last) = places.split_last().unwrap();
    for (place, _) in last {
        let mut damaged = whole.clone();
        damaged[(place.start + place.end) / 2] ^= 1;
        fs::write(flight.file(), &damaged).unwrap();
        let before: Vec<_> = Archive::from_bytes(&damaged[..]).events().collect();
        let output = flight.command(&["--plain", "--once"]).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        let after = fs::read(flight.file()).unwrap();
        assert!(after.starts_with(&damaged), "damaged at {place:?}");
        let archive = Archive::from_bytes(after);
        assert_eq!(archive.damage(), std::slice::from_ref(place));
        let expected = [first_arguments(&before), (40..50).collect()].concat();
        let events: Vec<_> = archive.events().collect();
        assert_eq!(first_arguments(&events), expected, "damaged at {place:?}");
        assert_eq!(archive.missed(), 0);
    }
}

#[test]
fn a_file_is_continued_in_the_other_form() {
    let mut flight = Flight::new("forms", 1024);
    for form in [&["--plain"][..], &[], &["--plain"], &[]] {
        flight.log(100);
        let recorder = flight.start(form);
        flight.until_recorded();
        assert!(recorder.stop(Signal::SIGTERM).0.success());
    }
    assert_eq!(first_arguments(&flight.events()), flight.expected());
    assert_eq!(flight.missed(), 0);
    let bytes = fs::read(flight.file()).unwrap();
    let mut tags: Vec<_> = frames(&bytes).into_iter().map(|(_, tag)| tag).collect();
    tags.retain(|tag| [16, 127].contains(tag));
    tags.dedup();
    assert_eq!(tags, [127, 16, 127, 16]);
}

/// Of two programs that write to one file after another, each goes on with its own.
#[test]
fn an_archive_joined_with_another_programs_is_continued_by_both() {
    let mut other = Flight::new("joined-other", 1024);
    let mut flight = Flight::new("joined", 1024);
    for flight in [&mut flight, &mut other] {
        flight.log(100);
        let recorder = flight.start(&[]);
        flight.until_recorded();
        assert!(recorder.stop(Signal::SIGTERM).0.success());
        flight.log(10);
        flight.timeline = None;
    }
    let [ours, theirs] = [&flight, &other].map(|flight| fs::read(flight.file()).unwrap());
    for joined in [[&ours[..], &theirs].concat(), [&theirs[..], &ours].concat()] {
        fs::write(flight.file(), joined).unwrap();
        for name in [&flight.name, &other.name] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_timeline"));
            command.args(["record", name, "--once", "-o"]);
            let output = command.arg(flight.file()).output().unwrap();
            assert!(output.status.success(), "{}", said(&output));
            assert!(said(&output).contains("recorded 10 events"));
        }
        let archive = Archive::open(flight.file()).unwrap();
        assert_eq!((archive.damage(), archive.missed()), (&[][..], 0));
        for preamble in &archive.preambles()[..2] {
            let of_this = archive
                .events()
                .filter(|event| event.definition.magic == preamble.magic.unwrap());
            assert_eq!(
                first_arguments(&of_this.collect::<Vec<_>>()),
                flight.expected()
            );
        }
    }
}

#[test]
fn a_signal_in_a_burst_ends_the_file_whole() {
    for form in [&["--plain"][..], &[]] {
        let mut flight = Flight::new(&format!("burst{}", form.len()), 1 << 17);
        let file = flight.file();
        let mut there = 0;
        for signal in [Signal::SIGTERM, Signal::SIGINT] {
            let recorder = flight.start(form);
            flight.log(10);
            flight.until_recorded();
            let before = size(&file);
            let enough = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    // As fast as can be, and no more than the ring holds.
                    for _ in 0..300 {
                        flight.log(100);
                        if enough.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                });
                eventually("the file to grow", || size(&file) > before);
                let (status, said) = recorder.stop(signal);
                enough.store(true, Ordering::Relaxed);
                assert!(status.success(), "{said}");
                let archive = Archive::open(&file).unwrap();
                assert!(archive.damage().is_empty(), "{:?}", archive.damage());
                // What it says stands in the file.
                let (_, recorded) = said.rsplit_once("recorded ").unwrap();
                let (recorded, _) = recorded.split_once(' ').unwrap();
                let count: usize = recorded.replace(',', "").parse().unwrap();
                there += count;
                assert_eq!(archive.events().count(), there, "{said}");
            });
        }
        let mut numbers = first_arguments(&flight.land(form));
        // Those of two CPUs, as the thread moves, may stand in another order.
        numbers.sort_unstable();
        assert_eq!((numbers, flight.missed()), (flight.expected(), 0));
    }
}

fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn who_may_not_read_or_write_is_told_in_one_line() {
    let mut flight = Flight::new("permitted", 1024);
    flight.log(1);
    let folder = flight.folder.path();
    let program = folder.join("timeline");
    copy_program(env!("CARGO_BIN_EXE_timeline"), &program);
    let locked = folder.join("locked");
    fs::create_dir(&locked).unwrap();
    let there = locked.join("there.tla");
    fs::write(&there, "").unwrap();
    permit(folder, 0o755);
    permit(&program, 0o755);
    permit(&there, 0o444);
    permit(&locked, 0o555);
    let ring = format!("/dev/shm{}", flight.name);
    // Whoever may do everything becomes nobody; all others are kept out as they are.
    let root = fs::metadata(folder).unwrap().uid() == 0;
    let record = |output: &Path| {
        let mut command = Command::new(if root { "setpriv".as_ref() } else { &*program });
        if root {
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg(&program);
        }
        command.args(["record", &flight.name, "--once", "-o"]);
        let output = command.arg(output).output().unwrap();
        let said = said(&output);
        assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1));
        assert!(said.contains("ermission denied"), "{said}");
        said
    };
    permit(ring.as_ref(), 0o444);
    let new = [locked.join("new.tla"), locked.join("new/")];
    for output in [&there, &locked, &new[0], &new[1]] {
        let said = record(output);
        assert!(said.contains(output.to_str().unwrap()), "{said}");
        assert_eq!(fs::read_dir(&locked).unwrap().count(), 1);
    }
    permit(ring.as_ref(), 0);
    let open = folder.join("open");
    fs::create_dir(&open).unwrap();
    permit(&open, 0o777);
    let said = record(&open.join("new.tla"));
    assert!(said.contains(&flight.name), "{said}");
    assert_eq!(fs::read_dir(&open).unwrap().count(), 0, "no file is left");
    permit(ring.as_ref(), 0o600);
    permit(&locked, 0o755);
}
