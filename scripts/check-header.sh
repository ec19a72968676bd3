#!/bin/sh
# Fails when include/timeline.h is not what ffi/src makes of it: the build writes it, and must leave it as it was.
# To be run before anything else that builds. Asks git nothing, which knows nothing of an unpacked archive.
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
