#!/bin/sh
# Fails if a build changes a header of include/ that it generates: timeline.h from ffi/src, and
# timeline-worker.h from ffi/worker/src. Must run before anything else builds. Does not use git,
# because an unpacked archive has none.
#
#   scripts/check-header.sh [COMMAND...]
#
# The command builds or checks timeline-ffi and timeline-worker-ffi, and may do more.
# Without one, these two are built.
set -eu
cd "$(dirname "$0")/.."
[ $# != 0 ] || set -- ${CARGO:-cargo} build --quiet -p timeline-ffi -p timeline-worker-ffi
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
cp include/timeline.h include/timeline-worker.h "$before"
"$@"
for header in timeline.h timeline-worker.h; do
  if ! diff -u "$before/$header" "include/$header"; then
    echo "check-header: include/$header was not what its sources in ffi say (it has been regenerated): commit it with the change that caused it" >&2
    exit 1
  fi
done
