//! What the environment asks for, as programs read it.

use std::path::Path;

use timeline_worker::{WorkerDestination, WorkerOptions};

use crate::support::{Process, say};

/// Says what its environment asks for.
fn asked(_: &[String]) {
    say(match WorkerOptions::from_environment() {
        Ok(None) => "nothing".to_string(),
        Ok(Some(options)) => match options.destination {
            WorkerDestination::File(path) => format!("file {}", path.display()),
            WorkerDestination::Store(sender) => format!("store {}", sender.address),
        },
        Err(error) => format!("error {error}"),
    });
}

#[test]
fn the_environment_asks_for_a_file_or_a_store() {
    let said = |environment: &[(&str, &str)]| {
        let mut program = Process::start_with(asked, &[], environment);
        program.line()
    };
    assert_eq!(said(&[]), "nothing");
    assert_eq!(
        said(&[("TIMELINE_TO", ""), ("TIMELINE_FILE", "")]),
        "nothing"
    );
    assert_eq!(said(&[("TIMELINE_FILE", "flight.tla")]), "file flight.tla");
    assert_eq!(said(&[("TIMELINE_TO", "db1")]), "store db1:1980");
    assert_eq!(said(&[("TIMELINE_TO", "[::1]:7")]), "store [::1]:7");
    let both = said(&[("TIMELINE_TO", "db1"), ("TIMELINE_FILE", "flight.tla")]);
    assert_eq!(
        both,
        "error TIMELINE_TO: expected either TIMELINE_TO or TIMELINE_FILE, got both"
    );
    let bad = said(&[("TIMELINE_TO", "a/b\u{1b}")]);
    assert!(
        bad.starts_with("error TIMELINE_TO: expected a host and a port"),
        "{bad}"
    );
    assert!(bad.is_ascii() && !bad.contains('\u{1b}'), "{bad}");
}

#[test]
fn arguments_ask_for_the_same() {
    let asked = |argument: &str| {
        let found = WorkerOptions::from_argument(argument);
        found.map(|found| found.map(|options| options.destination))
    };
    for (argument, path) in [("-tracefile=x.tla", "x.tla"), ("--tracefile=a=b", "a=b")] {
        let WorkerDestination::File(file) = asked(argument).unwrap().unwrap() else {
            panic!("{argument}");
        };
        assert_eq!(file, Path::new(path));
    }
    for store in ["-tracehost=db1", "--tracehost=db1:1980"] {
        let WorkerDestination::Store(sender) = asked(store).unwrap().unwrap() else {
            panic!("{store}");
        };
        assert_eq!(sender.address, "db1:1980");
    }
    for other in [
        "",
        "-",
        "-trace=x",
        "tracefile=x",
        "---tracefile=x",
        "-tracefiles=x",
    ] {
        assert!(asked(other).unwrap().is_none(), "{other}");
    }
    for bad in [
        "-tracefile=",
        "-tracehost=",
        "--tracehost=1980",
        "-tracehost=a/b",
    ] {
        let error = asked(bad).unwrap_err().to_string();
        assert!(error.starts_with("-trace"), "{error}");
        assert!(error.contains("expected a"), "{error}");
    }
}
