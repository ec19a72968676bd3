//! The units for systemd: sockets that are passed on, and options that there are.

use std::fs;
use std::process::Command;

use nix::sys::signal::Signal;

use crate::command::{Running, run, succeed};
use crate::store::place::{Program, traces};
use crate::support::root;

/// Binds two sockets, and becomes the command with these as systemd passes them.
const PASS: &str = "
import fcntl, os, socket, sys
places = []
for number in (3, 4):
    s = socket.socket()
    s.bind(('127.0.0.1', 0))
    s.listen()
    print('%s:%d' % s.getsockname(), flush=True)
    places.append(fcntl.fcntl(s, fcntl.F_DUPFD, 20))
for number, place in enumerate(places):
    os.dup2(place, 3 + number)
os.environ.update(LISTEN_FDS='2', LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[1], sys.argv[1:])
";

#[test]
fn a_store_takes_the_sockets_that_it_is_given() {
    let mut program = Program::new("passed", 1024);
    program.log(5);
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("traces");
    let mut python = Command::new("python3");
    let binary = env!("CARGO_BIN_EXE_timeline");
    python.args(["-c", PASS, binary, "store"]).arg(&kept);
    // Nothing is bound there: others may have these ports.
    python.args(["--listen", "127.0.0.1:1", "--http", "127.0.0.1:1"]);
    let mut store = Running::of(python);
    let lines = store.stdout_until("four addresses", |lines| lines.len() == 4);
    assert_eq!(lines[2], lines[0]);
    assert_eq!(lines[3], format!("http://{}/", lines[1]));
    let path = crate::command::snapshot(&program.name, folder.path());
    succeed(&["record", &path, "--to", &lines[0], "--once"]);
    let all = traces(&kept);
    let trace = all[0].strip_prefix(&kept).unwrap().display();
    let dumped = succeed(&["dump", &format!("store://{}/{trace}", lines[1])]).stdout;
    assert!(dumped.contains("n(4)"), "{dumped}");
    store.signal(Signal::SIGTERM);
    store.succeed();
}

#[test]
fn units_start_what_there_is() {
    let folder = root().join("packaging/systemd");
    let mut services = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().filter(|line| !line.is_empty());
        for line in lines.filter(|line| !line.starts_with(['#', '['])) {
            let has_value = line.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic())
            });
            assert!(has_value, "{}: {line}", path.display());
        }
        let Some(start) = text
            .lines()
            .find_map(|line| line.strip_prefix("ExecStart="))
        else {
            continue;
        };
        services += 1;
        let words: Vec<&str> = start.split_whitespace().collect();
        assert_eq!(words[0], "@PREFIX@/bin/timeline");
        let help = succeed(&[words[1], "--help"]).stdout;
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{}: {option}", path.display());
        }
        // They would be understood.
        let place = tempfile::tempdir().unwrap();
        let known = words[1..].iter().map(|word| match *word {
            word if word.starts_with("/var/") => place.path().display().to_string(),
            "$TIMELINE_AGENT_OPTIONS" => "--to=store1".into(),
            word => word.replace("${CREDENTIALS_DIRECTORY}", "/nonexistent"),
        });
        let known: Vec<String> = known.collect();
        let ran = run(&known.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(
            ran.stderr.contains("cannot use the tokens in /nonexistent"),
            "{ran:?}"
        );
    }
    assert_eq!(services, 2);
}
