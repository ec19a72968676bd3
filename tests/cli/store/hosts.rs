//! Two machines, as far as a network can tell: namespaces that a cable joins.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;
use timeline_archive::Archive;

use super::assert_refused;
use super::place::{Program, assert_same, events, eventually, traces};
use crate::command::{Ran, Running};

/// The address of the machine with the store, for the first of the others.
const STORE: &str = "10.9.0.1";

/// A machine with a network and a name of its own, as long as this is there.
pub struct Host {
    process: Child,
}

/// The command in the namespaces of a process; the first of them has the users of all.
fn within(pid: u32, spaces: &[&str], args: &[&str]) -> Command {
    let mut command = Command::new("nsenter");
    let target = pid.to_string();
    command.args(["--target", &target, "--user", "--preserve-credentials"]);
    command.args(spaces).arg("--").args(args);
    command
}

impl Host {
    /// A machine that others can be joined to. `boot`: the kernel's boot id there, if not that of
    /// this machine.
    pub fn new(name: &str, boot: Option<&str>) -> Host {
        let mut apart = Command::new("unshare");
        apart.args(["--user", "--map-root-user", "--net", "--uts", "--mount"]);
        Host::start(apart, name, boot)
    }

    /// Another machine, which a cable joins to this one: this one has the address 10.9.`number`.1
    /// there, and the other 10.9.`number`.2.
    pub fn joined(&self, number: u8, name: &str, boot: Option<&str>) -> Host {
        let apart = ["unshare", "--net", "--uts", "--mount"];
        let other = Host::start(within(self.process.id(), &[], &apart), name, boot);
        let pid = other.process.id().to_string();
        let device = format!("to-{name}");
        let cable = ["ip", "link", "add", &device, "type", "veth", "peer"];
        self.run(&[&cable[..], &["name", "to-store", "netns", &pid]].concat());
        for (host, device, last) in [(self, &device[..], 1), (&other, "to-store", 2)] {
            let address = format!("10.9.{number}.{last}/24");
            host.run(&["ip", "address", "add", &address, "dev", device]);
            host.run(&["ip", "link", "set", device, "up"]);
        }
        other
    }

    /// `command` makes the namespaces; it is followed by what is run in them.
    fn start(mut command: Command, name: &str, boot: Option<&str>) -> Host {
        let boot = boot.map_or(String::new(), |boot| {
            let file = "/proc/sys/kernel/random/boot_id";
            format!(
                "mount -t tmpfs none /mnt && echo {boot} >/mnt/boot && \
                 mount --bind /mnt/boot {file} && "
            )
        });
        // Until the end of its standard input.
        let script =
            format!("{boot}hostname {name} && ip link set lo up && echo {name} && read end");
        let process = command
            .args(["sh", "-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = process.spawn().unwrap();
        let (mut line, out) = (String::new(), process.stdout.take().unwrap());
        BufReader::new(out).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), name, "namespaces cannot be made");
        Host { process }
    }

    /// A command there.
    pub fn command(&self, args: &[&str]) -> Command {
        within(self.process.id(), &["--net", "--uts", "--mount"], args)
    }

    fn run(&self, args: &[&str]) {
        let ran = Ran::new(self.command(args).output().unwrap());
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    }

    /// Ours there.
    pub fn timeline(&self, args: &[&str]) -> Command {
        let binary = env!("CARGO_BIN_EXE_timeline");
        self.command(&[&[binary], args].concat())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

pub fn token_file(folder: &Path) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("token");
    std::fs::write(&path, "correct-horse-battery-staple").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path.display().to_string()
}

#[test]
fn another_machine_sends_what_nobody_in_between_can_read() {
    let mut program = Program::new("hosts", 1 << 12);
    program.log(50);
    let folder = tempfile::tempdir().unwrap();
    let store_host = Host::new("store1", None);
    let other = store_host.joined(0, "db1", None);
    let token = token_file(folder.path());
    let kept = folder.path().join("traces");
    let kept_there = kept.display().to_string();
    let address = format!("{STORE}:1980");
    let args = [
        "store",
        &kept_there,
        "--listen",
        STORE,
        "--token-file",
        &token,
    ];
    let mut store = Running::of(store_host.timeline(&args));
    let listens = store.stdout_until("an address", |lines| !lines.is_empty());
    assert_eq!(listens[0], address);
    let said = store.stderr_until("a fingerprint", |lines| !lines.is_empty());
    let fingerprint = said[0]
        .strip_prefix("timeline: certificate ")
        .unwrap()
        .to_owned();
    let name = program.name.path().to_owned();
    let record = ["record", &name, "--to", STORE];
    let secret = ["--token-file", &token];
    let refused = |more: &[&str], expected: &str| {
        let args = [&record[..], more].concat();
        assert_refused(Running::of(other.timeline(&args)), expected);
        assert!(traces(&kept).is_empty(), "{expected}");
    };
    let unknown = format!("shows the certificate {fingerprint}, which is not known here");
    refused(&secret, &unknown);
    refused(&["--insecure"], "expected an encrypted connection");
    let insecure = [&secret[..], &["--insecure"]].concat();
    refused(&insecure, "a token is not sent");
    refused(
        &["--fingerprint", &fingerprint],
        "expected a token, got none",
    );
    let args = [&record[..], &secret, &["--fingerprint", &fingerprint]].concat();
    let recorder = Running::of(other.timeline(&args));
    let count = || {
        let archive = Archive::open(traces(&kept).first()?).ok()?;
        Some(archive.events().count())
    };
    eventually("the events to arrive", || count() == Some(53));
    // The cable is pulled, and comes back.
    other.run(&["ip", "link", "set", "to-store", "down"]);
    program.log(50);
    other.run(&["ip", "link", "set", "to-store", "up"]);
    eventually("the other events to arrive", || count() == Some(103));
    recorder.signal(Signal::SIGINT);
    recorder.succeed();
    store.signal(Signal::SIGTERM);
    store.succeed();
    let all = traces(&kept);
    assert_same(&events(&all[0]), &program.recorded_here(), "all");
    let host = all[0].parent().unwrap().file_name().unwrap();
    assert_eq!(host, "db1");
}
