#!/bin/sh
# The script of `make demo`: a LuaJIT program and a C program log to one timeline, which the command
# dumps while they run; the level is turned down in both; the C program is killed, and its last
# events are still there. Leaves nothing behind.
#
#   [TARGET_DIR=target/release] scripts/demo.sh
#
# TARGET_DIR: where cargo left the command and the library.
set -eu
cd "$(dirname "$0")/.."

lib=${TARGET_DIR:-target/release}
case $lib in /*) ;; *) lib=$PWD/$lib ;; esac
timeline=$lib/timeline
name=/timeline-make-demo-$$
built=

finish() {
  trap '' INT TERM HUP
  if [ -n "$built" ]; then
    # Kills all started programs, also if the signal came before their pids were known.
    jobs -p >"$built/jobs"
    while read -r pid; do kill "$pid" 2>/dev/null || true; done <"$built/jobs"
    wait
    rm -rf "$built"
  fi
  # Not by `timeline rm`: a program may have been stopped in the middle of making it.
  rm -f "/dev/shm$name" "/dev/shm$name.prev" "/dev/shm$name".creating-*
}
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }
show() {
  say "\$ timeline $*"
  "$timeline" "$@"
}

trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

for file in "$timeline" "$lib/libtimeline.so"; do
  [ -f "$file" ] || { echo "demo: there is no $file: first run \"make\"" >&2; exit 1; }
done
built=$(mktemp -d)
ln -s "$lib/libtimeline.so" "$built/libtimeline.so.0"
# A process is called as its program, which has several names.
luajit=$(scripts/luajit.sh)
ln -s "$luajit" "$built/luajit"
${CC:-cc} -O2 -pthread -Iinclude examples/c/demo.c -o "$built/demo" -L"$lib" -ltimeline -Wl,-rpath,"$built"

say "Two programs start: examples/lua/demo.lua and examples/c/demo.c, both log to $name."
TIMELINE_LIBRARY=$lib/libtimeline.so "$built/luajit" examples/lua/demo.lua "$name" &
lua=$!
"$built/demo" "$name" 0 2 >/dev/null &
c=$!

# show_when CONDITION ARGUMENTS...: shows a command as soon as its output meets the condition; fails
# if one of the programs ends before.
show_when() {
  condition=$1
  shift
  until "$timeline" "$@" >"$built/shown" 2>/dev/null && $condition "$built/shown"; do
    for pid in "$lua" "$c"; do
      kill -0 "$pid" 2>/dev/null || { echo "demo: one of the programs ended too early" >&2; exit 1; }
    done
    sleep 0.01
  done
  say "\$ timeline $*"
  cat "$built/shown"
}
both() { grep -q ' luajit [0-9]' "$1" && grep -q ' demo [0-9]' "$1"; }
# Events that the level disables.
detail() { grep -Eq ' (trace|app|packet|library) +[0-9-]+ +[0-9-]+ ' "$1"; }
both_in_detail() {
  grep -E ' (trace|app|packet|library) +[0-9-]+ +[0-9-]+ ' "$1" >"$built/detail" && both "$built/detail"
}
both_without_detail() { both "$1" && ! detail "$1"; }

show_when both_in_detail dump "$name" --max-entries 40 --long
say "The level is turned down in both, from outside: errors, warnings and information only."
show priority "$name" info
show_when both_without_detail dump "$name" --max-entries 40 --long
show info "$name"
say "The C program is killed. What it logged last is still there:"
kill -KILL "$c"
wait "$c" 2>/dev/null || true
say "\$ timeline dump $name --long | grep demo | head -n 8"
# The whole dump goes to a file: behind a pipe, `head` would end before the dump does.
"$timeline" dump "$name" --long >"$built/dump"
head -n 1 "$built/dump"
grep "^[^ ]* [^ ]* *demo" "$built/dump" | head -n 8
say "\$ timeline info $name | grep writers"
"$timeline" info "$name" >"$built/info"
grep writers "$built/info"
say "Done. Next: \$ $timeline demo"
