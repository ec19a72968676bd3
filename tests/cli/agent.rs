//! The agent of a machine, and `timeline remote`, which asks it.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;
use timeline_archive::Archive;

use crate::command::{Ran, Running, fail, run, succeed};
use crate::store::place::{Program, events, eventually, traces};
use crate::store::{own_address, receiving};

/// An agent with its address.
fn answering(more: &[&str]) -> (Running, String) {
    let listen = own_address();
    let mut agent = Running::start(&[&["agent", "--listen", &listen], more].concat());
    let lines = agent.stdout_until("an address", |lines| !lines.is_empty());
    (agent, lines[0].clone())
}

/// The recordings of an agent, by the request that lists them.
fn recordings(host: &str) -> Vec<Value> {
    let told = &succeed(&["remote", host, "recordings", "--json"]).json()[0];
    told["recordings"].as_array().unwrap().clone()
}

fn end(agent: Running) {
    agent.signal(Signal::SIGTERM);
    agent.succeed();
}

#[test]
fn another_machine_looks_at_a_timeline_and_changes_what_it_logs() {
    let mut program = Program::new("controlled", 1024);
    program.log(5);
    let name = program.name.path();
    let (agent, host) = answering(&[]);
    let listed = succeed(&["remote", &host, "list"]).stdout;
    let mut rows = listed.lines();
    let row = rows.find(|line| line.starts_with(&format!("{name} ")));
    assert!(
        row.is_some_and(|row| row.contains(" 1 writer ")),
        "{listed}"
    );
    let same = succeed(&["list", &format!("store://{host}")]).stdout;
    assert_eq!(same.lines().next(), listed.lines().next());
    let remote = |words: &[&str]| run(&[&["remote", &host], words].concat());
    let url = format!("store://{host}/{name}");
    let dumped = succeed(&["dump", &url]).stdout;
    assert!(
        dumped.contains("n(4)") && dumped.contains("id(0)"),
        "{dumped}"
    );
    for (words, level) in [
        (&["priority", name, "error"][..], "error"),
        (&["enable", name, "test.number"], "error,+test.number"),
        (&["disable", name, "test.*"], "error,+test.number,-test.*"),
        (&["priority", name, "info"], "info"),
    ] {
        let ran = remote(words);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stderr.ends_with(&format!("level {level}\n")), "{ran:?}");
        assert_eq!(program.timeline.rules().to_string(), level);
        assert_eq!(remote(&["priority", name]).stdout, format!("{level}\n"));
    }
    let ran = remote(&["enable", name, "test.nunber"]);
    assert!(
        ran.code == Some(1) && ran.stderr.contains("test.number"),
        "{ran:?}"
    );
    let ran = remote(&["enable", name, "test.nunber", "--later"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = remote(&["channel", name, "bulk", "on", "--later"]);
    assert!(ran.stderr.contains("channel bulk is on"), "{ran:?}");
    assert!(remote(&["channel", name]).stdout.contains("bulk  on"));
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.timeline").display().to_string();
    let ran = remote(&["save", name, &copy]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(succeed(&["dump", &copy]).stdout.contains("n(4)"));
    let times = [
        "--level",
        "all",
        "--for",
        "1ms",
        "--every",
        "10ms",
        "--duration",
        "100ms",
    ];
    let ran = remote(&[&["sample", name][..], &times].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    eventually("the end of the sampling", || {
        let info = program.name.attach().info();
        info.boost == timeline::Level::NONE
    });
    end(agent);
}

#[test]
fn what_makes_no_sense_is_told() {
    let program = Program::new("misused", 1024);
    let name = program.name.path();
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept").display().to_string();
    let (agent, host) = answering(&[&kept]);
    for (words, code, told) in [
        (&["priority"][..], 2, "the NAME of a timeline is missing"),
        (&["priority", name, "loud"], 1, "loud"),
        (&["priority", "/none-such", "info"], 1, "there is no log"),
        (&["enable", name], 2, "the names of EVENTS are missing"),
        (&["enable", name, "nodot"], 1, "nodot"),
        (&["channel", name, "x"], 2, "on or off"),
        (&["sample", name], 2, "needs --level"),
        (&["save", name], 2, "the FILE to write is missing"),
        (&["record", name], 2, "needs --file NAME or --to STORE"),
        (
            &["record", name, "--file", "../x"],
            1,
            "expected the name of a file",
        ),
        (
            &["record", name, "--file", "/tmp/x"],
            1,
            "expected the name of a file",
        ),
        (
            &["record", "/none-such", "--file", "x"],
            1,
            "there is no timeline",
        ),
        (
            &["record", "/etc/passwd", "--file", "x"],
            1,
            "there is no timeline",
        ),
        (
            &["record", name, "--file", "x", "--label", "a=\u{1b}"],
            1,
            "expected labels",
        ),
        (&["record", name, "--to", "a b"], 1, "expected a host"),
        (&["stop", "17"], 1, "there is no recording 17"),
        (&["stop"], 2, "the NUMBER of a recording is missing"),
        (&["stop", "1", "2"], 2, "unexpected word 2"),
    ] {
        let ran = run(&[&["remote", &host], words].concat());
        assert_eq!(ran.code, Some(code), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(told), "{words:?}: {ran:?}");
    }
    assert!(recordings(&host).is_empty());
    end(agent);
    let (agent, host) = answering(&[]);
    let told = fail(&["remote", &host, "record", name, "--file", "x"]);
    assert!(told.contains("this agent writes no files"), "{told}");
    end(agent);
    let told = fail(&["remote", &host, "list"]);
    assert!(told.contains(&format!("cannot ask {host}")), "{told}");
    for (args, expected) in [
        (&["--listen", "0.0.0.0:0"][..], "everybody who can connect"),
        (
            &["--client-tokens", "/nonexistent"],
            "cannot use the tokens",
        ),
    ] {
        let ran = run(&[&["agent"], args].concat());
        assert!(ran.code != Some(0), "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    }
}

/// Starting late, stopping and starting again: each recording has the important events first.
#[test]
fn recordings_are_started_and_stopped_again_and_again() {
    let mut program = Program::new("restarted", 1 << 12);
    let name = program.name.path().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let (agent, host) = answering(&[&kept.display().to_string()]);
    for round in 0..3 * crate::support::size() {
        program.log(10);
        let file = format!("late-{round}.tla");
        let begun = succeed(&["remote", &host, "record", &name, "--file", &file]).stdout;
        let number = begun.split(' ').next().unwrap().to_owned();
        program.log(10);
        let ended = succeed(&["remote", &host, "stop", &number]).stdout;
        assert!(ended.contains("  complete  "), "{ended}");
        let found = events(&kept.join(&file));
        assert_eq!(found.len() as i64, 3 + program.logged, "{round}");
        let first = found[..3].iter();
        assert!(
            first.clone().all(crate::store::place::is_important),
            "{round}"
        );
        // It is served like any other archive.
        let url = format!("store://{host}/{file}");
        assert_eq!(succeed(&["stats", &url]).code, Some(0));
    }
    let all = recordings(&host);
    assert_eq!(all.len() as u64, 3 * crate::support::size());
    assert!(all.iter().all(|one| one["state"] == "complete"), "{all:?}");
    end(agent);
}

#[test]
fn a_fleet_is_sent_as_it_comes_and_goes() {
    let folder = tempfile::tempdir().unwrap();
    let (store, address) = receiving(folder.path(), &own_address());
    let mut first = Program::new("fleet-a", 1024);
    first.log(5);
    // Those of this process alone.
    let pattern = format!("timeline-test-fleet-?-{}-*", std::process::id());
    let is_meant = first
        .name
        .path()
        .contains(pattern.rsplit_once('?').unwrap().1.trim_end_matches('*'));
    assert!(is_meant, "{} {pattern}", first.name.path());
    let (agent, host) = answering(&["--to", &address, "--match", &pattern]);
    let count = |trace: &Path| Archive::open(trace).map_or(0, |it| it.events().count());
    eventually("the first program", || traces(folder.path()).len() == 1);
    // One that comes later, and one that is not meant.
    let mut second = Program::new("fleet-b", 1024);
    let other = Program::new("alone", 1024);
    second.log(7);
    eventually("both programs", || {
        let all = traces(folder.path());
        let counts: Vec<_> = all.iter().map(|trace| count(trace)).collect();
        all.len() == 2 && counts.contains(&8) && counts.contains(&10)
    });
    let shown = succeed(&["remote", &host, "recordings"]).stdout;
    assert_eq!(shown.lines().count(), 2, "{shown}");
    assert!(
        shown.lines().all(|line| line.ends_with("by itself")),
        "{shown}"
    );
    assert!(!shown.contains(other.name.path()), "{shown}");
    // What somebody stops is not begun again.
    let all = recordings(&host);
    let of = |program: &Program| {
        let mut found = all
            .iter()
            .filter(|one| one["timeline"] == program.name.path());
        found.next().unwrap()["number"].to_string()
    };
    succeed(&["remote", &host, "stop", &of(&second)]);
    second.log(1);
    // A program that ends has all of it sent, and the session ends.
    let (path, mut logged) = (first.name.path().to_owned(), first.logged);
    first.log(3);
    logged += 3;
    let Program { timeline, name, .. } = first;
    drop(timeline);
    eventually("the end", || {
        let states = recordings(&host);
        let mut own = states.iter().filter(|one| one["timeline"] == path.as_str());
        own.all(|one| one["state"] == "complete")
    });
    let all = traces(folder.path());
    let whole = all.iter().filter(|trace| count(trace) as i64 == 3 + logged);
    assert_eq!(whole.count(), 1);
    // The next run is another trace.
    let mut again = name.create(1024);
    let tick = again
        .define("test", timeline::Priority::Info, "tick")
        .unwrap();
    again.log(tick, []);
    eventually("the next run", || traces(folder.path()).len() == 3);
    drop(std::mem::replace(&mut again, other.timeline));
    let running = recordings(&host);
    let of_second = |one: &&Value| one["timeline"] == second.name.path();
    assert_eq!(running.iter().filter(of_second).count(), 1, "{running:?}");
    end(agent);
    store.signal(Signal::SIGTERM);
    store.succeed();
}

#[test]
fn what_fires_is_told_and_nothing_else() {
    let mut program = Program::new("watched", 1 << 12);
    let name = program.name.path().to_owned();
    let (agent, host) = answering(&[]);
    let when = ["--when", "event test.number where n > 100"];
    let words = [
        &["remote", &host, "watch", &name, "--cooldown", "0s"][..],
        &when,
    ]
    .concat();
    let stop = AtomicBool::new(false);
    let (plain, json) = std::thread::scope(|scope| {
        // It looks from the moment on at which it has begun, whenever that is.
        scope.spawn(|| {
            // Relaxed: nothing else is told by it.
            while !stop.load(Ordering::Relaxed) {
                program.log(1);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let mut watch = Running::start(&words);
        let plain = watch.stdout_until("two firings", |lines| lines.len() > 1);
        watch.signal(Signal::SIGINT);
        watch.finish();
        let once = ["-n", "1", "--json"];
        let (json, _) = Running::start(&[&words[..], &once].concat()).succeed();
        stop.store(true, Ordering::Relaxed);
        (plain, json)
    });
    let is_meant = |line: &String| line.contains("event test.number where n > 100");
    assert!(plain.iter().all(is_meant), "{plain:?}");
    assert!(!plain.iter().any(|line| line.contains("n(5)")), "{plain:?}");
    assert_eq!(json.len(), 1, "{json:?}");
    let fired: Value = serde_json::from_str(&json[0]).unwrap();
    assert!(fired.is_object(), "{fired}");
    for (when, told) in [
        (&["--when", "span"][..], "when: "),
        (
            &["--when", "event a.b", "--cooldown", "1s --then=exec"],
            "expected cooldown",
        ),
        (&[], "needs --when"),
    ] {
        let ran = run(&[&["remote", &host, "watch", &name][..], when].concat());
        assert!(ran.code != Some(0) && ran.stderr.contains(told), "{ran:?}");
    }
    end(agent);
}

#[test]
fn a_client_must_know_a_token() {
    use std::os::unix::fs::PermissionsExt;
    let program = Program::new("guarded", 1024);
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "0123456789abcdef\nfedcba9876543210\n").unwrap();
    std::fs::set_permissions(&tokens, std::fs::Permissions::from_mode(0o600)).unwrap();
    let kept = folder.path().join("kept").display().to_string();
    let tokens = tokens.display().to_string();
    let (mut agent, host) = answering(&[&kept, "--client-tokens", &tokens]);
    let told = fail(&["remote", &host, "list"]);
    assert!(told.contains("says: expected a"), "{told}");
    let said = agent.stderr_until("a certificate", |lines| !lines.is_empty());
    let fingerprint = said[0].rsplit(' ').next().unwrap().to_owned();
    let with = |token: &str, more: &[&str]| {
        let mut remote = Command::new(env!("CARGO_BIN_EXE_timeline"));
        let words = [&["remote", &host, "list"], more].concat();
        remote.args(words).env("TIMELINE_TOKEN", token);
        Ran::new(remote.output().unwrap())
    };
    for token in ["0123456789abcdef", "fedcba9876543210"] {
        let listed = with(token, &[]).stdout;
        assert!(listed.contains(program.name.path()), "{listed}");
    }
    assert_eq!(with("0123456789abcdex", &[]).code, Some(1));
    let pinned = with("0123456789abcdef", &["--fingerprint", &fingerprint]);
    assert_eq!(pinned.code, Some(0), "{pinned:?}");
    let wrong = fingerprint.replace(':', ":0");
    let wrong = &wrong[..fingerprint.len()];
    let refused = with("0123456789abcdef", &["--fingerprint", wrong]);
    assert!(
        refused.stderr.contains("it is another store"),
        "{refused:?}"
    );
    end(agent);
}

/// An agent acts for its user, so nobody else on the machine is answered.
#[test]
fn without_tokens_only_clients_of_the_same_user_are_answered() {
    let program = Program::new("own", 1024);
    let (agent, host) = answering(&[]);
    let listed = succeed(&["remote", &host, "list"]).stdout;
    assert!(listed.contains(program.name.path()), "{listed}");
    let folder = tempfile::tempdir().unwrap();
    let mut other = crate::command::command(&["remote", &host, "list"]);
    // As somebody else, who cannot read the file.
    other.env("XDG_CONFIG_HOME", folder.path());
    let refused = Ran::new(other.output().unwrap());
    assert!(
        refused.stderr.contains("says: expected a token"),
        "{refused:?}"
    );
    let mut dump =
        crate::command::command(&["dump", &format!("store://{host}/{}", program.name.path())]);
    dump.env("XDG_CONFIG_HOME", folder.path());
    assert_eq!(Ran::new(dump.output().unwrap()).code, Some(1));
    end(agent);
}

#[test]
fn what_keeps_an_agent_from_sending_is_told() {
    let mut program = Program::new("troubled", 1024);
    program.log(1);
    let pattern = program.name.path().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let (store, address) = receiving(folder.path(), &own_address());
    store.signal(Signal::SIGKILL);
    store.finish();
    let (mut agent, _) = answering(&["--to", &address, "--match", &pattern]);
    let told = |word: &'static str| move |lines: &[String]| lines.iter().any(|l| l.contains(word));
    agent.stderr_until("the trouble", told("refused"));
    let (store, _) = receiving(folder.path(), &address);
    agent.stderr_until("the end of it", told("goes on"));
    // Its program is killed: all is sent, and it is told so.
    drop(program);
    agent.stderr_until("the end", told("is complete"));
    end(agent);
    store.signal(Signal::SIGTERM);
    store.succeed();
}

#[test]
fn the_next_port_is_tried_if_one_is_taken() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let listen = format!("127.0.0.1:{port}");
    let mut agent = Running::start(&["agent", "--listen", &listen]);
    let lines = agent.stdout_until("an address", |lines| !lines.is_empty());
    let found: u16 = lines[0].rsplit(':').next().unwrap().parse().unwrap();
    assert!(found > port && found < port + 16, "{found}");
    end(agent);
}
