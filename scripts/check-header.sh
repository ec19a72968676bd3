#!/bin/sh
# Fails if the build changes include/timeline.h, which it generates from ffi/src. Must run before
# anything else builds. Does not use git, because an unpacked archive has none.
set -eu
cd "$(dirname "$0")/.."
before=$(mktemp)
trap 'rm -f "$before"' EXIT
cp include/timeline.h "$before"
${CARGO:-cargo} build --quiet -p timeline-ffi
if ! diff -u "$before" include/timeline.h; then
  echo "check-header: include/timeline.h was not what ffi/src says (it has been regenerated): commit it with the change that caused it" >&2
  exit 1
fi
