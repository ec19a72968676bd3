//! Certificates that are believed from now on: `timeline pin`.

use std::process::Command;

use nix::sys::signal::Signal;

use super::{own_address, receiving};
use crate::command::Ran;

/// Runs a command at a terminal, and answers its question.
const TERMINAL: &str = "
import os, pty, sys
child, terminal = pty.fork()
if child == 0:
    os.execv(sys.argv[2], sys.argv[2:])
said = b''
try:
    while True:
        said += os.read(terminal, 4096)
        if said.endswith(b'[yes/no] '):
            os.write(terminal, sys.argv[1].encode() + b'\\n')
except OSError:
    pass
print(said.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
";

#[test]
fn a_store_is_pinned_as_ssh_pins_a_host() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, address) = receiving(&folder.path().join("traces"), &own_address());
    let said = store.stderr_until("a certificate", |lines| !lines.is_empty());
    let fingerprint = said[0].rsplit(' ').next().unwrap().to_owned();
    let config = folder.path().join("config");
    let pin = |more: &[&str]| {
        let mut pin = Command::new(env!("CARGO_BIN_EXE_timeline"));
        pin.args([&["pin", &address], more].concat());
        pin.env("XDG_CONFIG_HOME", &config);
        Ran::new(pin.output().unwrap())
    };
    // Nobody can be asked.
    let asked = pin(&[]);
    assert_eq!(asked.code, Some(2), "{asked:?}");
    let way_out = format!("say `timeline pin {address} {fingerprint}`");
    assert!(asked.stderr.contains(&way_out), "{asked:?}");
    assert!(!config.exists());
    let pinned = pin(&[&fingerprint]);
    assert_eq!(pinned.code, Some(0), "{pinned:?}");
    let file = std::fs::read_to_string(config.join("timeline/stores")).unwrap();
    assert_eq!(file, format!("{address} {fingerprint}\n"));
    assert!(pin(&[]).stderr.contains("already"));
    // The answer of a person at a terminal; another store has the address.
    let other = fingerprint.replace(':', ":0");
    pin(&[&other[..fingerprint.len()]]);
    for (answer, code) in [("no", 1), ("yes", 0)] {
        let mut asked = Command::new("python3");
        asked.args([
            "-c",
            TERMINAL,
            answer,
            env!("CARGO_BIN_EXE_timeline"),
            "pin",
            &address,
        ]);
        let ran = Ran::new(asked.env("XDG_CONFIG_HOME", &config).output().unwrap());
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stdout.contains("another store now"), "{ran:?}");
        let shown = format!("shows the certificate {fingerprint}");
        assert!(ran.stdout.contains(&shown), "{ran:?}");
    }
    let file = std::fs::read_to_string(config.join("timeline/stores")).unwrap();
    assert!(
        file.ends_with(&format!("{address} {fingerprint}\n")),
        "{file}"
    );
    store.signal(Signal::SIGTERM);
    store.succeed();
}
