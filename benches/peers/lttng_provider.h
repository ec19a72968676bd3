/* LTTng-UST generates the event from this: four 64-bit integers, as in every peer. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench_peer

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_provider.h"

/* LTTng reads this file several times, each time with other definitions of its macros. */
#if !defined(BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>
#include <stdint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(
    bench_peer, event,
    LTTNG_UST_TP_ARGS(int64_t, a, int64_t, b, int64_t, c, int64_t, d),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int64_t, a, a)
        lttng_ust_field_integer(int64_t, b, b)
        lttng_ust_field_integer(int64_t, c, c)
        lttng_ust_field_integer(int64_t, d, d)
    )
)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
