/* The events that preload logs. */
#ifndef PRELOAD_EVENTS_H
#define PRELOAD_EVENTS_H

#include <stdint.h>

#include "timeline.h"

enum event {
    MALLOC, MALLOC_FAILED, CALLOC, CALLOC_FAILED, REALLOC, REALLOC_FAILED, ALIGNED, ALIGNED_FAILED, FREE,
    READ, READ_FAILED, WRITE, WRITE_FAILED, OPEN, OPEN_FAILED, OPENAT, OPENAT_FAILED, CLOSE, CLOSE_FAILED,
    UNLOGGED, EVENTS
};

static const struct { const char *category; int32_t priority; const char *message; } definitions[EVENTS] = {
    [MALLOC] = {"memory", TIMELINE_TRACE, "malloc of $size bytes at $address"},
    [MALLOC_FAILED] = {"memory", TIMELINE_WARNING, "malloc of $size bytes failed with $errno"},
    [CALLOC] = {"memory", TIMELINE_TRACE, "calloc of $count times $size bytes at $address"},
    [CALLOC_FAILED] = {"memory", TIMELINE_WARNING, "calloc of $count times $size bytes failed with $errno"},
    [REALLOC] = {"memory", TIMELINE_TRACE, "realloc of $old to $size bytes at $address"},
    [REALLOC_FAILED] = {"memory", TIMELINE_WARNING, "realloc of $old to $size bytes failed with $errno"},
    [ALIGNED] = {"memory", TIMELINE_TRACE, "aligned allocation of $size bytes to $alignment at $address"},
    [ALIGNED_FAILED] = {"memory", TIMELINE_WARNING,
                        "aligned allocation of $size bytes to $alignment failed with $errno"},
    [FREE] = {"memory", TIMELINE_TRACE, "free of $address"},
    [READ] = {"file", TIMELINE_INFO, "read of $size bytes from $fd gave $result"},
    [READ_FAILED] = {"file", TIMELINE_WARNING, "read of $size bytes from $fd failed with $errno"},
    [WRITE] = {"file", TIMELINE_INFO, "write of $size bytes to $fd took $result"},
    [WRITE_FAILED] = {"file", TIMELINE_WARNING, "write of $size bytes to $fd failed with $errno"},
    [OPEN] = {"file", TIMELINE_INFO, "open with $flags gave $fd"},
    [OPEN_FAILED] = {"file", TIMELINE_WARNING, "open with $flags failed with $errno"},
    [OPENAT] = {"file", TIMELINE_INFO, "openat in $directory with $flags gave $fd"},
    [OPENAT_FAILED] = {"file", TIMELINE_WARNING, "openat in $directory with $flags failed with $errno"},
    [CLOSE] = {"file", TIMELINE_INFO, "close of $fd"},
    [CLOSE_FAILED] = {"file", TIMELINE_WARNING, "close of $fd failed with $errno"},
    [UNLOGGED] = {"preload", TIMELINE_ERROR, "could not log $calls before this"},
};

#endif
