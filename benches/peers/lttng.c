/* LTTng-UST as a flight recorder, in a snapshot session of peers.py with the event enabled. */
#define PEER_NAME "lttng"
#define PEER_NOTE "overwrites the oldest"
#include "common.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"

#include <lttng/ust-version.h>

static void peer_open(int threads)
{
    (void)threads;
    /* The library has waited for the session daemon before main; an event that is off now stays
     * off. */
    if (!lttng_ust_tracepoint_enabled(bench_peer, event))
        bench_fail("expected a session with bench_peer:event enabled, found none: start me through peers.py");
}

static void *peer_thread(int thread)
{
    (void)thread;
    return NULL;
}

static inline void peer_log(void *state, int64_t i)
{
    (void)state;
    lttng_ust_tracepoint(bench_peer, event, i, i + 1, i + 2, i + 3);
}

static void peer_drain(void)
{
}

/* The losses of a snapshot are known only when it is read. */
static int64_t peer_lost(void)
{
    return -1;
}

static void peer_close(void)
{
}

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

static const char *peer_version(void)
{
    return TEXT(LTTNG_UST_MAJOR_VERSION) "." TEXT(LTTNG_UST_MINOR_VERSION) "." TEXT(LTTNG_UST_PATCHLEVEL_VERSION);
}
