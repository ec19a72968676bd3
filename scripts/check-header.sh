#!/bin/sh
# Fails when include/timeline.h is not what ffi/src makes of it: the build writes it, and the result must be
# what is committed.
set -eu
cd "$(dirname "$0")/.."
cargo build --quiet -p timeline-ffi
if ! git diff --exit-code -- include/timeline.h; then
  echo "check-header: include/timeline.h differs from what ffi/src says (it has been regenerated): commit it with the change that caused it" >&2
  exit 1
fi
