//! Programs that link the installed library of analyses, or load it into LuaJIT.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::{needed, pkg_config_of, prefix};
use crate::support::toolchain::{C99, cc, limited, luajit_program, printed, succeed};

#[test]
fn pkg_config_with_the_library_of_analyses() {
    let dir = TempDir::new().unwrap();
    let program = dir.path().join("analyst");
    fs::write(dir.path().join("analyst.c"), ANALYST).unwrap();
    let mut compiler = cc();
    compiler.args(C99).arg(dir.path().join("analyst.c"));
    compiler.arg("-o").arg(&program);
    let flags = pkg_config_of("timeline-analysis", &["--cflags", "--libs"]);
    succeed(compiler.args(flags), "gcc");
    assert!(needed(&program).contains("[libtimeline-analysis.so.0]"));
    analyse(limited(&program).env("LD_LIBRARY_PATH", prefix().join("lib")));
}

/// Logs a number, and asks for it.
pub const ANALYST: &str = r#"
#include <stdio.h>
#include <timeline-analysis.h>
int main(int argc, char **argv) {
  timeline_t *tl = 0;
  timeline_analysis_t *analysis = 0;
  timeline_subscriptions_t *wanted = 0;
  timeline_analysis_item_t item;
  const char *text = 0;
  uint32_t event = 0;
  if (argc != 2) return 1;
  const char *paths[] = {argv[1]};
  if (timeline_new(argv[1], 256, 0, &tl) != TIMELINE_OK) return 2;
  const char *message = "analysed $number";
  if (timeline_define(tl, "analyst", TIMELINE_INFO, message, &event) != TIMELINE_OK) return 3;
  timeline_log(tl, event, 42, 0, 0, 0);
  if (timeline_analysis_open(paths, 1, TIMELINE_ANALYSIS_HELD, &analysis) != TIMELINE_OK) return 4;
  if (timeline_analysis_subscriptions(analysis, &wanted) != TIMELINE_OK) return 5;
  if (timeline_analysis_events(wanted, 0, 0, 0) != TIMELINE_OK) return 6;
  if (timeline_analysis_next(analysis, 0, &item) != TIMELINE_OK) return 7;
  const uint32_t what = TIMELINE_ANALYSIS_MESSAGE;
  if (timeline_analysis_text(item.event, what, &text, 0) != TIMELINE_OK) return 8;
  puts(text);
  timeline_analysis_free(analysis);
  timeline_free(tl);
  return 0;
}
"#;

/// Runs it.
pub fn analyse(program: &mut Command) {
    let dir = TempDir::new().unwrap();
    let said = printed(program.arg(dir.path().join("ring")), "coreutils");
    assert_eq!(said, "analysed number(42)\n");
}

#[test]
fn luajit_finds_the_installed_library_of_analyses() {
    let dir = TempDir::new().unwrap();
    let program = "local timeline = require 'timeline'
        local tl = assert(timeline.new(arg[1], 256))
        timeline.define(tl, 'analyst', 'info', 'analysed $number')(42)
        local kind, event = assert(require('timeline.analysis').open(arg[1])):next()
        print(event)";
    let script = dir.path().join("analyst.lua");
    fs::write(&script, program).unwrap();
    let mut luajit = limited(luajit_program());
    luajit.env_remove("TIMELINE_ANALYSIS_LIBRARY");
    luajit.env("LUA_PATH", prefix().join("share/lua/5.1/?.lua"));
    analyse(luajit.arg(script));
}
