#!/bin/sh
# What `make demo` shows: a LuaJIT program and a C program log to one timeline, which the command dumps
# while they run. Needs target/release; leaves nothing behind.
set -eu
cd "$(dirname "$0")/.."

name=/timeline-make-demo
timeline=target/release/timeline
built=$(mktemp -d)
lua= c=

finish() {
  for pid in $lua $c; do kill "$pid" 2>/dev/null || true; done
  wait
  if ! "$timeline" rm "$name"; then
    echo "$name stays; remove it with: $timeline rm --force $name"
  fi
  rm -r "$built"
}
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }
show() {
  say "\$ timeline $*"
  "$timeline" "$@"
}

trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

lib=$PWD/target/release
ln -s "$lib/libtimeline.so" "$built/libtimeline.so.0"
${CC:-cc} -O2 -pthread -Iinclude examples/c/demo.c -o "$built/demo" -L"$lib" -ltimeline -Wl,-rpath,"$built"

say "Two programs start: examples/lua/demo.lua and examples/c/demo.c, both log to $name."
luajit examples/lua/demo.lua "$name" &
lua=$!
"$built/demo" "$name" 0 2 >/dev/null &
c=$!

# Until both have logged, for as long as both run.
logged() { "$timeline" dump --json "$name" 2>/dev/null | grep -q "\"process\":\"$1\""; }
until logged luajit && logged demo; do
  for pid in "$lua" "$c"; do
    kill -0 "$pid" 2>/dev/null || { echo "demo: one of the programs ended too early" >&2; exit 1; }
  done
done

show dump "$name" --max-entries 20
say "The level is turned down in both, from outside: errors, warnings and information only."
show priority "$name" info
show dump "$name" --max-entries 20 --long
show info "$name"
say "The C program is killed. What it logged last is still there:"
kill -KILL "$c"
say "\$ timeline dump $name --long | grep demo | head -n 8"
# The whole dump into a file: the head of a pipe would leave its writer without a reader.
"$timeline" dump "$name" --long >"$built/dump"
head -n 1 "$built/dump"
grep "^[^ ]* [^ ]* *demo" "$built/dump" | head -n 8
say "Done. Next: \$ target/release/timeline demo"
