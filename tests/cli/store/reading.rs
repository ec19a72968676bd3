//! Traces that are read over HTTP, as their files are read.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;

use nix::sys::signal::Signal;

use super::own_address;
use super::place::{Program, traces};
use crate::command::{Ran, Running, fail, run, snapshot, succeed};
use crate::support::Name;

/// A store that answers requests, and the addresses for recorders and for requests.
pub fn answering(folder: &Path, more: &[&str]) -> (Running, String, String) {
    let folder = folder.display().to_string();
    let http = own_address();
    let listen = own_address();
    let args = [
        "store",
        &folder,
        "--listen",
        &listen,
        "--rotate-size",
        "64K",
        "--http",
        &http,
    ];
    let mut store = Running::start(&[&args[..], more].concat());
    let lines = store.stdout_until("two addresses", |lines| lines.len() == 2);
    let page = lines[1].strip_prefix("http://").unwrap();
    (
        store,
        lines[0].clone(),
        page.trim_end_matches('/').to_owned(),
    )
}

/// The trace of the only run, as a path of both.
pub fn named(folder: &Path, http: &str) -> (String, String) {
    let all = traces(folder);
    let below = all[0].strip_prefix(folder).unwrap().display().to_string();
    (
        all[0].display().to_string(),
        format!("store://{http}/{below}"),
    )
}

#[test]
fn every_verb_says_the_same_of_a_trace_as_of_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let name = Name::new("reading");
    succeed(&["demo", name.path(), "--seconds", "1"]);
    let path = snapshot(&name, folder.path());
    let kept = folder.path().join("traces");
    let (store, address, http) = answering(&kept, &[]);
    let more = ["record", &path, "--to", &address, "--once", "--plain"];
    succeed(&more);
    let (files, url) = named(&kept, &http);
    let count = std::fs::read_dir(&files).unwrap().count();
    assert!(count >= 2, "{count}");
    let mut shown = 0;
    for verb in [
        "dump",
        "dump --json",
        "dump --reverse --long -n 50",
        "dump --priority ..info --json",
        "dump --category engine --where 'packets > 2'",
        "dump --event lz.* --thread nobody",
        "dump --grep breath --since -1h",
        "dump --event engine.* --where 'packets == 1 || true'",
        "dump --core 0-1023 --until +1h",
        "dump --thread * --json --priority ..trace",
        "stats",
        "stats --by thread --priority ..trace",
        "events",
        "export",
        "export --format jsonl",
        "histogram",
        "histogram --json",
        "outliers",
        "verify",
        "tail -n 20",
        "tail --json -n 20 --priority ..info",
    ] {
        let words: Vec<&str> = verb.split(' ').collect();
        let words = unquoted(&words);
        let [verb_name, options @ ..] = &words[..] else {
            unreachable!()
        };
        let of = |path: &str| {
            let mut args = vec![&verb_name[..], path];
            args.extend(options.iter().map(|word| &word[..]));
            run(&args)
        };
        shown += compared(of(&files), of(&url), (&files, &url), verb);
    }
    for options in [
        "",
        "-n",
        "-c",
        "-C 2",
        "--json",
        "--json --whole",
        "-E",
        "--reverse -m 3",
    ] {
        for query in ["breath", "Breath", "match|breath", "nothing like it"] {
            let options: Vec<&str> = options.split_whitespace().collect();
            let of = |path: &str| run(&[&["search"], &options[..], &[path, query]].concat());
            shown += compared(of(&files), of(&url), (&files, &url), query);
        }
    }
    assert!(shown > 100_000, "{shown}");
    store.signal(Signal::SIGTERM);
    store.succeed();
}

/// Words of which some were in quotes.
fn unquoted(words: &[&str]) -> Vec<String> {
    let text = words.join(" ");
    let mut parts = text.split('\'');
    let mut all = Vec::new();
    while let Some(plain) = parts.next() {
        all.extend(plain.split_whitespace().map(String::from));
        all.extend(parts.next().map(String::from));
    }
    all
}

/// The output of both is the same but for the names. Returns its bytes.
fn compared(files: Ran, trace: Ran, (path, url): (&str, &str), what: &str) -> usize {
    assert_eq!(files.code, trace.code, "{what}: {files:?} {trace:?}");
    assert_eq!(files.stdout.replace(path, url), trace.stdout, "{what}");
    assert_eq!(files.stderr.replace(path, url), trace.stderr, "{what}");
    trace.stdout.len()
}

#[test]
fn a_trace_is_followed_until_its_recorder_ends() {
    let mut program = Program::new("followed", 1 << 16);
    program.log(5);
    let folder = tempfile::tempdir().unwrap();
    let (store, address, http) = answering(folder.path(), &[]);
    let recorder = Running::start(&["record", program.name.path(), "--to", &address]);
    super::place::eventually("the trace", || {
        traces(folder.path()).first().is_some_and(|trace| {
            run(&["dump", &trace.display().to_string()])
                .stdout
                .contains("n(4)")
        })
    });
    let (_, url) = named(folder.path(), &http);
    let mut tail = Running::start(&["tail", &url, "-n", "1"]);
    let has = |text: &'static str| move |lines: &[String]| lines.iter().any(|l| l.contains(text));
    tail.stdout_until("the newest", has("n(4)"));
    program.log(5);
    tail.stdout_until("a new event", has("n(9)"));
    // More than a file has.
    program.log(20_000);
    recorder.signal(Signal::SIGINT);
    recorder.finish();
    let (shown, said) = tail.succeed();
    let missed = said.iter().any(|line| line.ends_with(" 0 entries missed"));
    assert!(missed, "{said:?}");
    let last = shown.iter().any(|line| line.contains("n(20009)"));
    assert!(last, "{:?}", shown.last());
    let mut tail = Running::start(&["tail", &url, "-n", "1"]);
    tail.stdout_until("the newest", has("n(20009)"));
    tail.succeed();
    store.signal(Signal::SIGTERM);
    store.succeed();
}

#[test]
fn a_trace_that_breaks_off_is_told_and_fails() {
    let mut program = Program::new("broken", 1024);
    program.log(5);
    let folder = tempfile::tempdir().unwrap();
    let (store, address, http) = answering(folder.path(), &[]);
    let recorder = Running::start(&["record", program.name.path(), "--to", &address]);
    super::place::eventually("the trace", || !traces(folder.path()).is_empty());
    let (_, url) = named(folder.path(), &http);
    let mut tail = Running::start(&["tail", &url]);
    tail.stdout_until("an event", |lines| !lines.is_empty());
    store.signal(Signal::SIGKILL);
    store.finish();
    let (status, _, said) = tail.finish();
    assert_eq!(status.code(), Some(1), "{said:?}");
    let why = format!("cannot ask {http}: ");
    assert!(said.iter().any(|line| line.contains(&why)), "{said:?}");
    recorder.signal(Signal::SIGKILL);
    recorder.finish();
}

#[test]
fn what_cannot_be_read_is_told() {
    let mut program = Program::new("told", 1024);
    program.log(5);
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "correct-horse-battery-staple").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&token, mode).unwrap();
    let token = token.display().to_string();
    let kept = folder.path().join("traces");
    let (store, address, http) = answering(&kept, &["--token-file", &token]);
    let path = snapshot(&program.name, folder.path());
    succeed(&[
        "record",
        &path,
        "--to",
        &address,
        "--once",
        "--token-file",
        &token,
    ]);
    let (_, url) = named(&kept, &http);
    let with = |verb: &str, secret: &str, path: &str| {
        let mut dump = Command::new(env!("CARGO_BIN_EXE_timeline"));
        dump.args([verb, path]).env("TIMELINE_TOKEN", secret);
        Ran::new(dump.output().unwrap())
    };
    let known = "correct-horse-battery-staple";
    assert_eq!(with("dump", known, &url).code, Some(0));
    let told = fail(&["dump", &url]);
    assert!(told.contains("says: expected a"), "{told}");
    let told = with("dump", "wrong-horse-battery-staple", &url).stderr;
    assert!(told.contains("says: expected another token"), "{told}");
    let told = with("dump", known, &format!("store://{http}/none/such")).stderr;
    assert!(told.contains("there is no log \"none/such\""), "{told}");
    let told = with("dump", known, &format!("store://{http}"));
    assert_eq!(told.code, Some(2));
    let way_out = format!("`timeline list store://{http}` shows");
    assert!(told.stderr.contains(&way_out), "{told:?}");
    let listed = with("list", known, &format!("store://{http}")).stdout;
    let (_, name) = url.split_once(&format!("{http}/")).unwrap();
    let row = listed.lines().find(|line| line.starts_with(name));
    assert!(row.is_some_and(|row| row.contains("  ended  ")), "{listed}");
    for verb in [
        "record -o x.tla",
        "priority",
        "index",
        "rm",
        "channel",
        "serve",
    ] {
        let mut words = verb.split(' ');
        let args = [
            &[words.next().unwrap(), &url[..]],
            &words.collect::<Vec<_>>()[..],
        ]
        .concat();
        let told = fail(&args);
        assert!(
            told.contains("is a trace of a store") || verb == "rm",
            "{verb}: {told}"
        );
    }
    let told = fail(&["dump", "store://a b/c"]);
    assert!(told.contains("expected a host and a port"), "{told}");
    store.signal(Signal::SIGTERM);
    store.succeed();
    let told = fail(&["dump", &url]);
    assert!(told.contains(&format!("cannot ask {http}: ")), "{told}");
}

/// What is damaged is told as of the files, also if only some events are asked for.
#[test]
fn damage_is_told_from_afar() {
    let folder = tempfile::tempdir().unwrap();
    let mut program = Program::new("damaged", 1 << 14);
    program.log(10_000);
    let path = snapshot(&program.name, folder.path());
    let kept = folder.path().join("kept");
    std::fs::create_dir(&kept).unwrap();
    let file = kept.join("damaged.tla");
    succeed(&["record", &path, "-o", &file.display().to_string(), "--once"]);
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 2000].fill(0x5a);
    std::fs::write(&file, bytes).unwrap();
    let (store, _, http) = answering(&kept, &[]);
    let (own, url) = (
        file.display().to_string(),
        format!("store://{http}/damaged.tla"),
    );
    for verb in [
        &["dump", "--category", "net"][..],
        &["dump"],
        &["stats", "--event", "test.*"],
        &["search", "-c", "n(7)"],
        &["search", "nothing like it"],
        &["export"],
        &["verify"],
    ] {
        let of = |path: &str| match verb {
            ["search", options @ .., query] => {
                run(&[&["search"], options, &[path, query]].concat())
            }
            [name, options @ ..] => run(&[&[*name, path], options].concat()),
            [] => unreachable!(),
        };
        let files = of(&own);
        assert_ne!(files.code, Some(0), "{verb:?}");
        compared(files, of(&url), (&own, &url), verb[0]);
    }
    store.signal(Signal::SIGTERM);
    store.succeed();
}

/// Others may answer at the address of a store.
#[test]
fn answers_of_others_are_refused() {
    for (answer, expected) in [
        ("SSH-2.0-OpenSSH_9.6\r\n", "cannot ask"),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
            "neither a timeline nor an archive: it is text",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\nhello",
            "cannot ask",
        ),
        (
            "HTTP/1.1 404 No\r\ncontent-length: 5\r\n\r\nhello",
            "expected an answer of timeline",
        ),
        (
            "HTTP/1.1 302 No\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
            "expected an answer of timeline",
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answering = thread::spawn(move || {
            let (mut socket, _): (TcpStream, _) = listener.accept().unwrap();
            let mut asked = [0; 4096];
            let count = socket.read(&mut asked).unwrap();
            socket.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&asked[..count]).into_owned()
        });
        let told = fail(&["dump", &format!("store://{address}/a b?c")]);
        assert!(told.contains(expected), "{answer}: {told}");
        let asked = answering.join().unwrap();
        assert!(
            asked.starts_with("GET /api/logs/a%20b%3Fc/archive HTTP/1.1\r\n"),
            "{asked}"
        );
    }
}
