//! Recording a name over the comings and goings of its program.

use nix::sys::signal::Signal;
use timeline::{Priority, Timeline};
use timeline_archive::Archive;

use crate::flight::{Flight, eventually, first_arguments, said};

/// How many runs the archive tells of.
fn runs(flight: &Flight) -> usize {
    let archives = flight
        .files()
        .into_iter()
        .map(|f| Archive::open(f).unwrap());
    let mut magics: Vec<_> = archives
        .flat_map(|a| {
            a.preambles()
                .iter()
                .map(|p| p.magic.unwrap())
                .collect::<Vec<_>>()
        })
        .collect();
    magics.sort_unstable();
    magics.dedup();
    magics.len()
}

/// How many times the archive says that an unknown number is missing.
fn unknown(flight: &Flight) -> u64 {
    let unknown = |file| Archive::open(file).unwrap().missed_unknown();
    flight.files().into_iter().map(unknown).sum()
}

#[test]
fn a_name_that_is_not_there_is_waited_for_and_followed_over_restarts() {
    for (output, purpose) in [("flight.tla", "wait"), ("flights/", "wait-files")] {
        let mut flight = Flight::not_there(purpose, 1 << 12, output);
        let recorder = flight.start(&[]);
        recorder.until_it_says(&format!("waiting for {}", flight.name));
        for run in 1..4 {
            flight.restart();
            flight.log(1_000);
            flight.until_recorded();
            assert_eq!(runs(&flight), run);
        }
        // And over a time without any.
        timeline::unlink(&flight.name).unwrap();
        recorder.until_it_says("was removed; waiting until it is created again");
        flight.restart();
        flight.log(1_000);
        flight.until_recorded();
        let (status, said) = recorder.stop(Signal::SIGINT);
        assert!(status.success(), "{said}");
        assert_eq!(said.matches("waiting for /").count(), 1, "{said}");
        assert_eq!(said.matches("was created again").count(), 3, "{said}");
        assert!(said.contains("recorded 4,000 events"), "{said}");
        assert!(said.contains(" 0 missed"), "{said}");
        assert_eq!(first_arguments(&flight.events()), flight.expected());
        assert_eq!((runs(&flight), flight.missed()), (4, 0));
    }
}

#[test]
fn waiting_ends_on_a_signal() {
    for output in ["flight.tla", "flights/"] {
        for is_there in [false, true] {
            let flight = Flight::not_there("wait-signal", 256, output);
            let mut found = vec![];
            if is_there {
                // Somebody else's, which stay.
                found = match output {
                    "flights/" => vec![flight.file(), flight.file().join("notes")],
                    _ => vec![flight.file()],
                };
                if output.ends_with('/') {
                    std::fs::create_dir(flight.file()).unwrap();
                }
                std::fs::write(found.last().unwrap(), "").unwrap();
            }
            let recorder = flight.start(&[]);
            recorder.until_it_says("waiting for");
            let (status, said) = recorder.stop(Signal::SIGTERM);
            assert!(status.success(), "{said}");
            assert!(said.contains("recorded 0 events"), "{said}");
            assert_eq!(flight.file().exists(), is_there, "{output}");
            assert!(found.iter().all(|path| path.exists()), "{output}");
            let files = std::fs::read_dir(flight.file()).map_or(0, Iterator::count);
            assert_eq!(files, found.len().saturating_sub(1));
        }
    }
}

#[test]
fn what_the_last_run_left_unrecorded_is_recorded_before_the_next_one() {
    for (output, purpose) in [("flight.tla", "prev"), ("flights/", "prev-files")] {
        let mut flight = Flight::not_there(purpose, 1 << 12, output);
        flight.restart();
        flight.log(100);
        let recorder = flight.start(&[]);
        flight.until_recorded();
        recorder.stop(Signal::SIGKILL);
        // No recorder is there when it goes on, ends, and begins anew.
        flight.log(100);
        flight.restart();
        flight.log(100);
        let events = flight.land(&[]);
        assert_eq!(first_arguments(&events), flight.expected());
        assert_eq!((runs(&flight), flight.missed()), (2, 0));
        assert_eq!(unknown(&flight), 0);
        // Nor when there is a whole run, and the beginning of another.
        flight.restart();
        flight.log(100);
        flight.restart();
        flight.log(100);
        let events = flight.land(&[]);
        assert_eq!(first_arguments(&events), flight.expected());
        assert_eq!((runs(&flight), flight.missed()), (4, 0));
    }
}

#[test]
fn a_new_archive_does_not_begin_with_the_run_before() {
    let mut flight = Flight::new("prev-not", 1 << 12);
    flight.log(100);
    flight.restart();
    flight.log(100);
    let events = flight.land(&[]);
    assert_eq!(first_arguments(&events), (100..200).collect::<Vec<_>>());
}

#[test]
fn what_a_run_overwrote_before_the_recorder_saw_it_is_missed() {
    let mut flight = Flight::new("prev-missed", 1024);
    flight.log(100);
    let recorder = flight.start(&[]);
    flight.until_recorded();
    assert!(recorder.stop(Signal::SIGINT).0.success());
    flight.restart();
    flight.log(5_000);
    let events = flight.land(&[]);
    assert_eq!(events.len() as u64 + flight.missed(), 5_100);
    assert!(flight.missed() > 3_000);
    assert_eq!(events.last().map(|e| e.args[0]), Some(5_099));
}

#[test]
fn two_restarts_behind_the_back_of_a_recorder_lose_nothing() {
    let mut flight = Flight::new("twice", 1 << 12);
    flight.log(100);
    let recorder = flight.start(&["--plain"]);
    flight.until_recorded();
    recorder.signal(Signal::SIGSTOP);
    eventually("it to stand still", || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", recorder.pid())).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with('T')
    });
    flight.log(100);
    flight.restart();
    flight.log(100);
    flight.restart();
    flight.log(100);
    recorder.signal(Signal::SIGCONT);
    flight.until_recorded();
    let (status, said) = recorder.stop(Signal::SIGINT);
    assert!(status.success(), "{said}");
    assert_eq!(first_arguments(&flight.events()), flight.expected());
    assert_eq!((runs(&flight), flight.missed()), (3, 0));
}

#[test]
fn runs_that_nobody_kept_are_said_to_be_missing() {
    for (output, purpose) in [("flight.tla", "gone"), ("flights/", "gone-files")] {
        let mut flight = Flight::not_there(purpose, 1 << 12, output);
        flight.restart();
        flight.log(100);
        let recorder = flight.start(&[]);
        flight.until_recorded();
        recorder.stop(Signal::SIGKILL);
        // A run that `new` keeps until the one after the next, and one that it keeps.
        let mut expected: Vec<_> = flight.expected();
        flight.log(100);
        flight.restart();
        flight.log(100);
        flight.restart();
        flight.log(100);
        expected.extend(200..400);
        for again in [false, true] {
            let recorder = flight.start(&[]);
            flight.until_recorded();
            if again {
                // One restart in its sight.
                flight.restart();
                flight.log(10);
                flight.until_recorded();
                expected.extend(400..410);
            }
            let (status, said) = recorder.stop(Signal::SIGINT);
            assert!(status.success(), "{said}");
            let gaps = said.matches("may be missing, and are not counted").count();
            let ends = said.contains(" 0 missed, and an unknown number in 1 place\n");
            assert_eq!((gaps, ends), (usize::from(!again), !again), "{said}");
            assert_eq!(first_arguments(&flight.events()), expected);
            assert_eq!((unknown(&flight), flight.missed()), (1, 0));
        }
        // The readers say so.
        let say = |verb: &[&str]| {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_timeline"));
            let output = command.args(verb).arg(flight.file()).output().unwrap();
            assert!(output.status.success());
            (
                String::from_utf8_lossy(&output.stdout).into_owned(),
                said(&output),
            )
        };
        let (info, _) = say(&["info"]);
        assert!(
            info.contains(" 0, and an unknown number in 1 place\n"),
            "{info}"
        );
        let (verify, _) = say(&["verify"]);
        assert!(
            verify.contains(" 0, and an unknown number in 1 place\n"),
            "{verify}"
        );
        for verb in ["info", "verify"] {
            let (json, _) = say(&[verb, "--json"]);
            assert!(json.contains("\"missed_unknown\":1"), "{json}");
        }
        for verb in ["dump", "tail"] {
            let (_, told) = say(&[verb]);
            assert!(told.contains("before 1 place may be missing"), "{told}");
        }
    }
}

#[test]
fn a_run_that_was_removed_may_have_had_others_after_it() {
    let mut flight = Flight::new("removed", 1 << 12);
    flight.log(100);
    let recorder = flight.start(&[]);
    flight.until_recorded();
    assert!(recorder.stop(Signal::SIGINT).0.success());
    flight.log(100);
    flight.timeline = None;
    timeline::unlink(&flight.name).unwrap();
    flight.restart();
    flight.log(100);
    let events = flight.land(&[]);
    let expected: Vec<_> = (0..100).chain(200..300).collect();
    assert_eq!(first_arguments(&events), expected);
    assert_eq!((unknown(&flight), flight.missed()), (1, 0));
}

#[test]
fn the_run_before_is_recorded_to_its_end_also_where_its_usual_name_is_taken() {
    for (output, purpose) in [("flight.tla", "taken"), ("flights/", "taken-files")] {
        let mut flight = Flight::not_there(purpose, 1 << 12, output);
        let taken = format!("/dev/shm{}.prev", flight.name);
        std::fs::write(&taken, "somebody's notes").unwrap();
        for round in 1..4 {
            flight.restart();
            flight.log(100);
            let recorder = flight.start(&[]);
            flight.until_recorded();
            recorder.stop(Signal::SIGKILL);
            flight.log(100);
            flight.restart();
            flight.log(100);
            assert_eq!(first_arguments(&flight.land(&[])), flight.expected());
            assert_eq!((runs(&flight), flight.missed()), (2 * round, 0));
        }
        assert_eq!(unknown(&flight), 0);
        assert_eq!(std::fs::read_to_string(&taken).unwrap(), "somebody's notes");
    }
}

#[test]
fn what_another_user_put_at_the_name_of_the_run_before_is_not_recorded() {
    // SAFETY: geteuid takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("skipped: only root can act as another user");
        return;
    }
    const NOBODY: Option<u32> = Some(65534);
    for (output, purpose) in [("flight.tla", "planted"), ("flights/", "planted-files")] {
        let mut flight = Flight::not_there(purpose, 1 << 12, output);
        flight.restart();
        flight.log(100);
        flight.land(&[]);
        timeline::unlink(&flight.name).unwrap();
        // One that would be the run before, had it been of our own user.
        let planted = format!("{}.prev-0123456789abcdef", flight.name);
        let forged = Timeline::with_size(&planted, 256, 4096).unwrap();
        let event = forged.define("test", Priority::Info, "number $n of $all");
        forged.log(event.unwrap(), [-1, -1]);
        drop(forged);
        std::os::unix::fs::chown(format!("/dev/shm{planted}"), NOBODY, NOBODY).unwrap();
        flight.restart();
        flight.log(100);
        assert_eq!(first_arguments(&flight.land(&[])), flight.expected());
        assert_eq!(runs(&flight), 2);
    }
}

#[test]
fn once_ends_with_the_program_and_the_run_before_ends_by_itself() {
    let mut flight = Flight::new("once", 1 << 12);
    flight.log(100);
    let recorder = flight.start(&["--once"]);
    flight.until_recorded();
    flight.log(100);
    flight.timeline = None;
    recorder.until_it_says("recorded 200 events");
    assert_eq!(first_arguments(&flight.events()), flight.expected());

    flight.restart();
    let file = flight.folder.path().join("before.tla");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_timeline"));
    let before = format!("{}.prev", flight.name);
    command.args(["record", &before, "-o"]).arg(&file);
    assert!(command.status().unwrap().success());
    assert_eq!(Archive::open(file).unwrap().events().count(), 200);
}

#[test]
fn a_program_at_the_name_of_a_run_before_is_recorded_like_any_other() {
    let mut base = Flight::not_there("aside", 1 << 12, "flight.tla");
    let mut flight = Flight::not_there("aside", 1 << 12, "flight.tla");
    flight.name += ".prev";
    flight.restart();
    let recorder = flight.start(&[]);
    for _ in 0..2 {
        flight.log(100);
        flight.until_recorded();
    }
    flight.restart();
    flight.log(100);
    flight.until_recorded();
    let (status, said) = recorder.stop(Signal::SIGINT);
    assert!(status.success(), "{said}");
    assert_eq!(said.matches("was created again").count(), 1, "{said}");
    assert_eq!(first_arguments(&flight.events()), flight.expected());
    assert_eq!((runs(&flight), flight.missed()), (2, 0));

    // It is no run of the program at the name without the suffix.
    base.restart();
    base.log(100);
    base.land(&[]);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_timeline"));
    command.args(["record", "--once", &flight.name, "-o"]);
    let output = command.arg(base.file()).output().unwrap();
    assert!(!output.status.success(), "{}", crate::flight::said(&output));
    assert_eq!(first_arguments(&base.events()), base.expected());
}

#[test]
fn a_clock_that_is_set_back_between_runs_changes_nothing() {
    for (output, purpose) in [("flight.tla", "clock"), ("flights/", "clock-files")] {
        let mut flight = Flight::not_there(purpose, 1 << 12, output);
        flight.restart();
        flight.log(100);
        let recorder = flight.start(&[]);
        flight.until_recorded();
        recorder.stop(Signal::SIGKILL);
        flight.log(100);
        for (begun, runs_then) in [(3_000_000_000, 2), (1_000_000_000, 4)] {
            flight.restart();
            flight.begun(begun + 1);
            flight.log(100);
            if runs_then == 4 {
                // A whole run without a recorder.
                flight.restart();
                flight.begun(begun);
                flight.log(100);
            }
            let events = flight.land(&[]);
            assert_eq!(first_arguments(&events), flight.expected());
            assert_eq!((runs(&flight), flight.missed()), (runs_then, 0));
        }
    }
}
