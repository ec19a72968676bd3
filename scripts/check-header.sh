#!/bin/sh
# Fails if a build changes a header of include/ that it generates: timeline.h from ffi/src,
# timeline-worker.h from ffi/worker/src, and timeline-analysis.h from ffi/analysis/src. Must run
# before anything else builds. Does not use git, because an unpacked archive has none.
#
#   scripts/check-header.sh [COMMAND...]
#
# The command builds or checks timeline-ffi, timeline-worker-ffi and timeline-analysis-ffi, and may
# do more. Without one, these three are built.
set -eu
cd "$(dirname "$0")/.."
[ $# != 0 ] || set -- ${CARGO:-cargo} build --quiet -p timeline-ffi -p timeline-worker-ffi -p timeline-analysis-ffi
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
headers="timeline.h timeline-worker.h timeline-analysis.h"
(cd include && cp $headers "$before")
"$@"
for header in $headers; do
  if ! diff -u "$before/$header" "include/$header"; then
    echo "check-header: include/$header was not what its sources in ffi say (it has been regenerated): commit it with the change that caused it" >&2
    exit 1
  fi
done
