//! Durations between the calls of a real program, against what the program measured itself.

use std::process::Command;

use super::calls::{logged, system};
use crate::support::Name;
use crate::support::toolchain::printed;

/// Reads, computes and writes, and prints between which bounds the time from the end of each read
/// to the end of the write behind it lies. It calls read and write itself, and prints at its end.
const PROGRAM: &str = r#"
local ffi = require "ffi"
ffi.cdef [[
  typedef struct { long seconds, nanoseconds; } timespec_t;
  int clock_gettime(int clock, timespec_t *now);
  int open(const char *path, int flags, ...);
  long read(int fd, void *bytes, size_t count);
  long write(int fd, const void *bytes, size_t count);
]]
local C, spec, bytes = ffi.C, ffi.new("timespec_t"), ffi.new("char[64]")
local function now()
   C.clock_gettime(1, spec)
   return tonumber(spec.seconds) * 1e9 + tonumber(spec.nanoseconds)
end
local from, to = C.open("/dev/zero", 0), C.open("/dev/null", 1)
local lines, sum = { tostring(to) }, 0
for round = 1, 60 do
   local before = now()
   assert(C.read(from, bytes, 64) == 64)
   local read = now()
   for i = 1, round * 997 % 20000 do sum = sum + i % 7 end
   local ready = now()
   assert(C.write(to, bytes, 64) == 64)
   local written = now()
   lines[#lines + 1] = ("%d %d"):format(ready - read, written - before)
end
print(table.concat(lines, "\n"))
"#;

#[test]
fn durations_between_the_calls_of_luajit_are_those_that_it_measures_itself() {
    let name = Name::new("preload-latency");
    let mut luajit = logged(system("luajit"), &name);
    let said = printed(luajit.args(["-e", PROGRAM]), "luajit");
    let mut lines = said.lines();
    let fd = lines.next().expect("the descriptor of what is written");
    let bounds: Vec<(f64, f64)> = lines
        .map(|line| {
            let (least, most) = line.split_once(' ').expect("two numbers");
            (least.parse().unwrap(), most.parse().unwrap())
        })
        .collect();
    assert_eq!(bounds.len(), 60, "{said}");

    let mut outliers = Command::new(env!("CARGO_BIN_EXE_timeline"));
    let condition = format!("fd == {fd} && size == 64");
    outliers.args(["outliers", name.path(), "--json", "-n", "1000"]);
    outliers.args(["--from", "file.read_of", "--to", "file.write_of"]);
    let shown = printed(outliers.args(["--where", &condition]), "timeline");
    let found = shown
        .lines()
        .map(|line| -> serde_json::Value { serde_json::from_str(line).expect("an object") });
    let end = |one: &serde_json::Value| crate::json::nanos(&one["end_ns"]).expect("a time");
    let duration = |one: &serde_json::Value| one["duration"].as_u64().expect("a number");
    let mut found: Vec<_> = found
        .map(|one| (end(&one), duration(&one) as f64))
        .collect();
    found.sort_unstable_by_key(|(end, _)| *end);
    assert_eq!(found.len(), 60, "{shown}");
    for ((_, nanos), (least, most)) in found.iter().zip(&bounds) {
        // The clocks of the kernel and of the ring run alike, but for their rounding.
        let slack = 100.0 + nanos / 1_000.0;
        let is_between = least - slack <= *nanos && *nanos <= most + slack;
        assert!(is_between, "{nanos} ns is not in {least} to {most} ns");
    }
}
