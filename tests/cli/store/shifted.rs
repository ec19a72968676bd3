//! Hosts whose clocks are wrong: a store compares them, and readers find the order.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use nix::sys::signal::Signal;
use serde_json::Value;
use tempfile::TempDir;
use timeline_archive::Archive;

use super::hosts::{Host, token_file};
use super::place::{eventually, traces};
use crate::command::{Ran, Running, succeed as succeeds};
use crate::support::Name;
use crate::support::toolchain::{cc, luajit, root, succeed};

/// A host on which a program logs when it is told to.
struct ShiftedHost {
    host: Host,
    ahead: i64,
    shim: String,
    name: Name,
    program: Child,
    told: ChildStdin,
    says: BufReader<ChildStdout>,
}

impl ShiftedHost {
    /// A host whose clock is so many seconds ahead.
    fn new(host: Host, ahead: i64, folder: &TempDir) -> ShiftedHost {
        let shim = folder.path().join("shift.so").display().to_string();
        let name = Name::new(&format!("shifted{ahead}"));
        let lua = luajit();
        let script = root().join("tests/lua/turns.lua");
        let words = [lua.get_program()].into_iter().chain(lua.get_args());
        let words: Vec<&str> = words.map(|word| word.to_str().unwrap()).collect();
        let end = [script.to_str().unwrap(), name.path()];
        let mut command = shifted(&host, &[&words[..], &end].concat(), ahead, &shim);
        for (variable, value) in lua.get_envs() {
            command.env(variable, value.unwrap_or(OsStr::new("")));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut program = command.spawn().unwrap();
        let (told, says) = (
            program.stdin.take().unwrap(),
            program.stdout.take().unwrap(),
        );
        let mut host = ShiftedHost {
            host,
            ahead,
            shim,
            name,
            program,
            told,
            says: BufReader::new(says),
        };
        assert_eq!(host.said(), "ready");
        host
    }

    fn said(&mut self) -> String {
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// Logs a number, and returns between which times that was in truth.
    fn log(&mut self, number: usize) -> [u64; 2] {
        let before = now();
        writeln!(self.told, "{number}").unwrap();
        assert_eq!(self.said(), number.to_string());
        [before, now()]
    }

    fn timeline(&self, args: &[&str]) -> Command {
        let binary = env!("CARGO_BIN_EXE_timeline");
        shifted(
            &self.host,
            &[&[binary], args].concat(),
            self.ahead,
            &self.shim,
        )
    }
}

impl Drop for ShiftedHost {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// A command on a host, which sees its clock so many seconds ahead.
fn shifted(host: &Host, args: &[&str], ahead: i64, shim: &str) -> Command {
    let ahead = format!("CLOCK_AHEAD={ahead}");
    let shim = format!("LD_PRELOAD={shim}");
    host.command(&[&["env", &ahead, &shim], args].concat())
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_nanos() as u64
}

fn build_shim(folder: &Path) {
    let mut compiler = cc();
    let compiler = compiler.args(["-shared", "-fPIC", "-o"]);
    let compiler = compiler.arg(folder.join("shift.so"));
    let compiler = compiler.arg(root().join("tests/cli/store/clock_shift.c"));
    succeed(compiler.arg("-ldl"), "build-essential");
}

fn number(line: &Value) -> usize {
    line["args"]["number"].as_u64().unwrap() as usize
}

/// What is shown of the traces: by the clock of the store, and in an order that is true as far as
/// it is claimed.
fn check(shown: &Ran, truth: &[[u64; 2]]) {
    let lines = shown.json();
    assert_eq!(lines.len(), truth.len(), "{shown:?}");
    for (at, line) in lines.iter().enumerate() {
        let [before, after] = truth[number(line)];
        let time: u64 = line["unix_ns"].as_str().unwrap().parse().unwrap();
        let error = line["time_error_ns"].as_u64().unwrap();
        let range = before - error..=after + error;
        assert!(range.contains(&time), "{line} is not in {range:?}");
        let later = lines[..at].iter().any(|above| number(above) > number(line));
        assert!(!later || line["may_be_earlier"] == true, "{at}: {line}");
    }
    assert_eq!(
        shown.stderr.matches("times are those of store1").count(),
        2,
        "{shown:?}"
    );
}

/// Starts a store on a host, and returns it with the fingerprint of its certificate.
fn store_on(host: &Host, kept: &Path, token: &str) -> (Running, String) {
    let listen = ["--listen", "0.0.0.0", "--http", "0.0.0.0"];
    let kept = kept.display().to_string();
    let args = [&["store", &kept], &listen[..], &["--token-file", token]].concat();
    let mut store = Running::of(host.timeline(&args));
    store.stdout_until("two addresses", |lines| lines.len() > 1);
    let said = store.stderr_until("a fingerprint", |lines| !lines.is_empty());
    let fingerprint = said[0].strip_prefix("timeline: certificate ").unwrap();
    (store, fingerprint.to_owned())
}

/// Has the hosts log in turn, most of it once their clocks are compared, and returns when each
/// event was logged in truth.
fn take_turns(mut hosts: [&mut ShiftedHost; 2], kept: &Path) -> Vec<[u64; 2]> {
    let is_compared = |trace: &PathBuf| {
        let archive = Archive::open(trace).ok()?;
        let magic = archive.magics().next()?;
        Some(!archive.clocks(magic).is_empty())
    };
    let mut truth: Vec<_> = (0..2).map(|turn| hosts[turn].log(turn)).collect();
    eventually("the clocks to be compared", || {
        let all = traces(kept);
        all.len() == 2 && all.iter().all(|trace| is_compared(trace) == Some(true))
    });
    truth.extend((2..40).map(|turn| hosts[turn % 2].log(turn)));
    let count = |trace: &PathBuf| Archive::open(trace).unwrap().events().count();
    eventually("all to arrive", || {
        traces(kept).iter().map(count).sum::<usize>() == truth.len()
    });
    truth
}

/// What a host shows of traces by their addresses.
fn shown_afar(host: &ShiftedHost, args: &[&str], home: &Path, token: &str) -> Ran {
    let mut command = host.timeline(args);
    command.env("XDG_CONFIG_HOME", home);
    command.env("TIMELINE_TOKEN", fs::read_to_string(token).unwrap());
    let ran = Ran::new(command.output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

#[test]
fn two_hosts_with_wrong_clocks_have_one_order() {
    let folder = tempfile::tempdir().unwrap();
    build_shim(folder.path());
    let boot = |last: u8| format!("00000000-0000-0000-0000-0000000000{last:02}");
    let store_host = Host::new("store1", Some(&boot(1)));
    let hosts = [(0, "db1", 7_200), (1, "db2", -37)].map(|(number, name, ahead)| {
        let host = store_host.joined(number, name, Some(&boot(2 + number)));
        ShiftedHost::new(host, ahead, &folder)
    });
    let [mut one, mut other] = hosts;
    let (token, kept) = (token_file(folder.path()), folder.path().join("traces"));
    let (store, fingerprint) = store_on(&store_host, &kept, &token);
    // One has a recorder, and the other an agent.
    let known = ["--fingerprint", &fingerprint, "--token-file", &token];
    let record = ["record", one.name.path(), "--to", "10.9.0.1"];
    let recorder = Running::of(one.timeline(&[&record[..], &known].concat()));
    let pattern = other.name.path().trim_start_matches('/').to_owned();
    let agent = ["agent", "--match", &pattern, "--to", "10.9.1.1"];
    let agent = Running::of(other.timeline(&[&agent[..], &known].concat()));
    let truth = take_turns([&mut one, &mut other], &kept);
    // Nothing more is compared.
    for running in [recorder, agent] {
        running.signal(Signal::SIGINT);
        running.succeed();
    }
    let dump = ["dump", "--reverse", "--json", "-n", "100"];
    let paths: Vec<String> = traces(&kept)
        .iter()
        .map(|trace| trace.display().to_string())
        .collect();
    let words: Vec<&str> = paths.iter().map(String::as_str).collect();
    check(&succeeds(&[&dump[..], &words].concat()), &truth);
    // From afar, where the clock is wrong as well.
    let home = folder.path().join("home");
    fs::create_dir_all(home.join("timeline")).unwrap();
    fs::write(
        home.join("timeline/stores"),
        format!("10.9.0.1 {fingerprint}\n"),
    )
    .unwrap();
    let place = kept.display().to_string();
    let url = |path: &String| format!("store://10.9.0.1{}", path.strip_prefix(&place).unwrap());
    let urls: Vec<String> = paths.iter().map(url).collect();
    let words: Vec<&str> = urls.iter().map(String::as_str).collect();
    let afar = |more: &[&str]| shown_afar(&one, &[&dump[..], &words, more].concat(), &home, &token);
    let shown = afar(&[]);
    check(&shown, &truth);
    // Times that are asked for are those that are shown.
    let lines = shown.json();
    let [since, until] = [10, 30].map(|at: usize| lines[at]["time"].as_str().unwrap());
    let part = afar(&["--since", since, "--until", until]).json();
    let numbers = |lines: &[Value]| lines.iter().map(number).collect::<Vec<_>>();
    assert_eq!(numbers(&part), numbers(&lines[10..30]));
    store.signal(Signal::SIGTERM);
    store.succeed();
}
