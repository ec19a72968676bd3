/* A plain ring as a reference: one counter for all threads, 64-byte entries stamped by rdtsc. */
#define PEER_NAME "xadd"
#define PEER_NOTE "overwrites the oldest; a reader could not tell a whole entry from a torn one"
#include "common.h"

#include <sys/mman.h>

#define ENTRIES (UINT64_C(1) << 20)

struct entry {
    uint64_t number, ticks, event, thread;
    int64_t arguments[4];
};

/* A cache line of its own: threads shall compete for the counter, not for the pointer beside it. */
static uint64_t counter __attribute__((aligned(64)));
static struct entry *ring __attribute__((aligned(64)));

static void peer_open(int threads)
{
    (void)threads;
    int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE;
    void *memory = mmap(NULL, ENTRIES * sizeof *ring, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED)
        bench_fail("no memory for the ring: %s", strerror(errno));
    ring = (struct entry *)memory;
}

static void *peer_thread(int thread)
{
    return (void *)(intptr_t)(thread + 1);
}

static inline void peer_log(void *state, int64_t i)
{
    uint64_t number = __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
    struct entry *entry = &ring[number & (ENTRIES - 1)];
    entry->ticks = __builtin_ia32_rdtsc();
    entry->event = 1;
    entry->thread = (uint64_t)(intptr_t)state;
    entry->arguments[0] = i;
    entry->arguments[1] = i + 1;
    entry->arguments[2] = i + 2;
    entry->arguments[3] = i + 3;
    __atomic_store_n(&entry->number, number, __ATOMIC_RELEASE);
}

static void peer_drain(void)
{
}

static int64_t peer_lost(void)
{
    return -1;
}

static void peer_close(void)
{
    munmap(ring, ENTRIES * sizeof *ring);
}

static const char *peer_version(void)
{
    return "reference";
}
