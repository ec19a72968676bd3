#!/bin/sh
# Prints where a LuaJIT 2.1 is: $LUAJIT, or one in PATH under any of its names, or OpenResty's.
#
#   scripts/luajit.sh
set -eu

# The oldest that will do: 2.1, as LuaJIT itself counts.
works() {
  [ -x "$1" ] && "$1" -e 'assert(jit and jit.version_num >= 20100)' >/dev/null 2>&1
}

if [ -n "${LUAJIT:-}" ]; then
  found=$(command -v "$LUAJIT") && works "$found" && echo "$found" && exit 0
  echo "luajit: LUAJIT=$LUAJIT is no LuaJIT 2.1 that runs" >&2
  exit 1
fi
IFS=:
for name in luajit luajit2 'luajit-2.1*'; do
  for folder in $PATH /usr/local/openresty/luajit/bin; do
    # A name of a version is a pattern.
    for found in "$folder"/$name; do
      if works "$found"; then
        echo "$found"
        exit 0
      fi
    done
  done
done
echo "luajit: there is no LuaJIT 2.1 in PATH; LUAJIT=PROGRAM names another one" >&2
exit 1
