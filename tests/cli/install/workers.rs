//! Programs that link the installed library of workers, and record themselves.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::{needed, pkg_config_of, prefix};
use crate::support::toolchain::{C99, cc, limited, succeed};

#[test]
fn pkg_config_with_the_library_of_workers() {
    let dir = TempDir::new().unwrap();
    let program = dir.path().join("recorder");
    fs::write(dir.path().join("recorder.c"), RECORDER).unwrap();
    let mut compiler = cc();
    compiler.args(C99).arg(dir.path().join("recorder.c"));
    compiler.arg("-o").arg(&program);
    let flags = pkg_config_of("timeline-worker", &["--cflags", "--libs"]);
    succeed(compiler.args(flags), "gcc");
    assert!(needed(&program).contains("[libtimeline-worker.so.0]"));
    record(limited(&program).env("LD_LIBRARY_PATH", prefix().join("lib")));
}

/// Records itself.
pub const RECORDER: &str = r#"
#include <timeline-worker.h>
int main(int argc, char **argv) {
  timeline_t *tl = 0;
  timeline_worker_t *worker = 0;
  timeline_worker_options_t options = {0};
  uint32_t event = 0;
  if (argc != 3) return 1;
  options.file = argv[2];
  if (timeline_new(argv[1], 256, 0, &tl) != TIMELINE_OK) return 2;
  const char *message = "recorded $number";
  if (timeline_define(tl, "recorder", TIMELINE_INFO, message, &event) != TIMELINE_OK) return 3;
  if (timeline_worker_start(tl, &options, &worker) != TIMELINE_OK) return 4;
  timeline_log(tl, event, 42, 0, 0, 0);
  return timeline_worker_stop(worker, 0) == TIMELINE_OK ? 0 : 5;
}
"#;

/// Runs it, and reads what it recorded with the installed command.
pub fn record(program: &mut Command) {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("flight.tla");
    succeed(program.arg(dir.path().join("ring")).arg(&file), "coreutils");
    let mut dump = Command::new(prefix().join("bin/timeline"));
    let dump = succeed(dump.arg("dump").arg(&file), "coreutils");
    let dump = String::from_utf8(dump.stdout).unwrap();
    assert!(dump.contains("recorded number(42)"), "{dump}");
}
