/* Measures logging from C through libtimeline.so. VARIANT is the call; each is a program of its
 * own, because benches/peers/common.h, which has the command line, the loops and main, measures
 * one.
 *
 * BENCH_RING names the timeline: joined if it exists, made otherwise, and left for
 * benches/bench.py. BENCH_WARM_UP is how many events are logged first; by default, once through the
 * ring. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "timeline.h"

#define PEER_NAME "timeline-c"
#define PEER_NOTE NULL
#include "../peers/common.h"

static timeline_t *tl;
static uint32_t none, four, detail;
static timeline_span_events_t span;
static char own[64];
/* The reference for the check of a disabled event: a byte that the compiler cannot know, and a
 * branch. */
static volatile uint8_t byte;

static __attribute__((noinline, cold)) void taken(void)
{
    __asm__ volatile("" : : : "memory");
}

/* One value of each kind, as programs print them; VALUES has other values in each turn. */
#define MESSAGE "took %d us for %s at %p, %.2f on average"
#define VALUES(i) (int)((uint32_t)(i) * 2654435761u >> 20), names[(i) & 7], (void *)&names[(i) & 7], (double)(i) / 7
#define TWO "got %d of %d"
#define TWO_VALUES(i) (int)((uint32_t)(i) * 2654435761u >> 20), (int)(i)
/* As MESSAGE, with five bytes of text in each turn. */
#define FIVE_VALUES(i) (int)((uint32_t)(i) * 2654435761u >> 20), fives[(i) & 3], (void *)&fives[(i) & 3], (double)(i) / 7
static const char *const fives[] = {"fstat", "write", "mkdir", "rmdir"};
static const char *const long_names[] = {"a name of 24 characters.", "another of as many bytes"};
/* The floor: what an event cannot do without, a reading of the clock and 64 bytes in 64 MiB. */
static uint64_t entries[1 << 20][8] __attribute__((aligned(64)));
static const char *const names[] = {"open", "read", "a longer name of something", "write", "seek", "stat", "sync", "close"};
static __thread char text[128];
static FILE *nowhere;

static inline __attribute__((always_inline)) void call(uint32_t event, int64_t i)
{
    timeline_log(tl, event, i, i + 1, i + 2, i + 3);
}

static inline __attribute__((always_inline)) void peer_log(void *state, int64_t i)
{
    enum {
        enabled0, enabled4, checked4, disabled_call, disabled, branch, printf4, backtrace4, snprintf4, fprintf4,
        store64, printf2, printf_five, event4, event6, event_text, snprintf2, span4, span_calls
    };
    (void)state;
    switch (VARIANT) {
    case enabled0:
        timeline_log(tl, none, 0, 0, 0, 0);
        break;
    case enabled4:
        call(four, i);
        break;
    case checked4:
        if (timeline_enabled(tl, four))
            call(four, i);
        break;
    case disabled_call:
        call(detail, i);
        break;
    case disabled:
        if (timeline_enabled(tl, detail))
            call(detail, i);
        break;
    case branch:
        if (byte)
            taken();
        break;
    case printf4:
        TIMELINE_PRINTF(tl, TIMELINE_TRACE, MESSAGE, VALUES(i));
        break;
    case backtrace4:
        TIMELINE_BACKTRACE(tl, TIMELINE_TRACE, MESSAGE, VALUES(i));
        break;
    case snprintf4:
        snprintf(text, sizeof text, MESSAGE, VALUES(i));
        break;
    case fprintf4:
        fprintf(nowhere, MESSAGE, VALUES(i));
        break;
    case store64: {
        uint64_t *entry = entries[i & ((1 << 20) - 1)];
        entry[0] = __builtin_ia32_rdtsc();
        for (int word = 1; word < 8; word++)
            entry[word] = (uint64_t)(i + word);
        __asm__ volatile("" : : : "memory");
        break;
    }
    case printf2:
        TIMELINE_PRINTF(tl, TIMELINE_TRACE, TWO, TWO_VALUES(i));
        break;
    case printf_five:
        TIMELINE_PRINTF(tl, TIMELINE_TRACE, MESSAGE, FIVE_VALUES(i));
        break;
    case event4:
        TIMELINE_EVENT(tl, TIMELINE_TRACE, "bench", "four $a:i32 $b:u64 $c:f64 $d:ptr", (int)i, (uint64_t)i,
                       (double)i, (void *)&names[i & 7]);
        break;
    case event6:
        TIMELINE_EVENT(tl, TIMELINE_TRACE, "bench", "six $a:i32 $b:u64 $c:f64 $d:ptr $e:i64 $f:u16", (int)i,
                       (uint64_t)i, (double)i, (void *)&names[i & 7], (int64_t)(i + 1), (uint16_t)i);
        break;
    case event_text:
        TIMELINE_EVENT(tl, TIMELINE_TRACE, "bench", "sent $size:i32 to $host:str", (int)i, long_names[i & 1]);
        break;
    case snprintf2:
        snprintf(text, sizeof text, TWO, TWO_VALUES(i));
        break;
    case span4: {
        TIMELINE_SPAN(tl, TIMELINE_TRACE, "bench", "span $a:i32 $b:u64 $c:f64 $d:ptr", (int)i, (uint64_t)i, (double)i,
                      (void *)&names[i & 7]);
        break;
    }
    case span_calls:
        timeline_log(tl, span.begin, i, i + 1, i + 2, i + 3);
        timeline_log(tl, span.end, i, i + 1, i + 2, i + 3);
        break;
    }
}

static void must(timeline_status_t status)
{
    if (status != TIMELINE_OK)
        bench_fail("%s", timeline_last_error());
}

static void peer_open(int threads)
{
    (void)threads;
    const char *ring = getenv("BENCH_RING");
    if (!ring) {
        snprintf(own, sizeof own, "/timeline-bench-%ld", (long)getpid());
        ring = own;
    }
    timeline_status_t status = timeline_open(ring, &tl);
    must(status == TIMELINE_E_NOT_FOUND ? timeline_new(ring, 0, 0, &tl) : status);
    must(timeline_define(tl, "bench", TIMELINE_TRACE, "nothing", &none));
    must(timeline_define(tl, "bench", TIMELINE_TRACE, "four $a $b $c $d", &four));
    must(timeline_define_span(tl, "bench", TIMELINE_TRACE, "span $a $b $c $d", NULL, &span));
    /* Less important than the others, so that it is disabled without them. */
    must(timeline_define(tl, "bench", TIMELINE_LIBRARY, "detail $a $b $c $d", &detail));
    must(timeline_priority(tl, TIMELINE_APP));
    nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        bench_fail("/dev/null: %s", strerror(errno));
    /* So that this process has touched all pages of the ring. */
    const char *warm_up = getenv("BENCH_WARM_UP");
    int64_t events = warm_up ? (int64_t)bench_number("BENCH_WARM_UP", warm_up) : 1048576;
    for (int64_t i = 0; i < events; i++)
        call(four, i);
    memset(entries, 1, VARIANT == 10 ? sizeof entries : 0);
    taken();
}

static void *peer_thread(int thread)
{
    (void)thread;
    return NULL;
}

static void peer_drain(void)
{
}

/* `timeline info` shows it. */
static int64_t peer_lost(void)
{
    return -1;
}

static void peer_close(void)
{
    fclose(nowhere);
    timeline_free(tl);
    if (*own)
        must(timeline_unlink(own));
}

static const char *peer_version(void)
{
    return timeline_version();
}
