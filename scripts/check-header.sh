#!/bin/sh
# Fails if a build changes include/timeline.h, which it generates from ffi/src. Must run before
# anything else builds. Does not use git, because an unpacked archive has none.
#
#   scripts/check-header.sh [COMMAND...]
#
# The command builds or checks timeline-ffi, and may do more.
# Without one, timeline-ffi alone is built.
set -eu
cd "$(dirname "$0")/.."
[ $# != 0 ] || set -- ${CARGO:-cargo} build --quiet -p timeline-ffi
before=$(mktemp)
trap 'rm -f "$before"' EXIT
cp include/timeline.h "$before"
"$@"
if ! diff -u "$before" include/timeline.h; then
  echo "check-header: include/timeline.h was not what ffi/src says (it has been regenerated): commit it with the change that caused it" >&2
  exit 1
fi
