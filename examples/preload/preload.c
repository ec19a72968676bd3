/* preload: logs the memory and file calls of any program to a timeline, without changing it.
 *
 *     LD_PRELOAD=/path/to/preload.so program ...
 *
 * Every malloc, calloc, realloc, aligned allocation, free, read, write, open, openat and close of
 * the program and its libraries is passed on to the real function and then logged with its sizes,
 * descriptors and result; a failed call is an event of its own, with its errno.
 *
 * This code runs in a hostile place: before main, inside malloc, in signal handlers, in threads
 * that are just beginning or ending and in children of fork. What keeps it safe there:
 *
 * - The real functions come from dlsym, which may itself allocate: until it is done, this thread's
 *   allocations are served from a small static heap.
 * - The first event of a process makes the timeline and the first of a thread registers it; both
 *   make calls of their own. They run with `inside` set to OWN, which turns logging off, and with
 *   signals blocked, so that only calls of the library are not logged, and none of the program. The
 *   library holds off cancellation meanwhile.
 * - Later events make no calls. If a signal handler interrupts one and makes calls itself, those
 *   are not logged but counted, and the count is logged next.
 * - Calls of a child of vfork, which runs in this memory but must not log, are counted too: see
 *   `vfork`.
 * - errno is as the real function left it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "events.h"
#include "real.h"
#include "timeline.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- The timeline ---------------------------------------------------------------------------- */

enum { NOT_STARTED, STARTING, LOGGING, OFF };
static _Atomic int state;
static timeline_t *timeline;
static uint32_t events[EVENTS];
static _Atomic uint64_t unlogged;

/* What this thread does: nothing here, log an event (or run as a child of vfork), or run a part of
 * the timeline library that makes calls of its own. Not static, because the assembly of `vfork`
 * names it. */
enum { NOTHING, AN_EVENT, OWN };
__thread __attribute__((used, visibility("hidden"), tls_model("initial-exec"))) int inside;
/* Whether this thread has logged its first event. */
THREAD int known;
/* Whether this thread is ending and the library may have released it: each event may be its
 * first. */
THREAD int ending;
static pthread_key_t end_key;

static void at_thread_end(void *unused)
{
    (void)unused;
    ending = 1;
    known = 0;
}

static void block_signals(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

/* To the timeline, a forked child is a new thread. Its parent logs the count so far. */
static void after_fork(void)
{
    known = 0;
    atomic_store(&unlogged, 0);
}

/* Whether the newest event is of this process, which logged it before its exec. The exec closed the
 * timeline, so it may have no writer now. */
static int was_ours(const char *path)
{
    timeline_attached_t *attached = NULL;
    timeline_cursor_t *cursor = NULL;
    timeline_event_t newest;
    int ours = timeline_attach(path, &attached) == TIMELINE_OK
        && timeline_events(attached, TIMELINE_NEWEST_FIRST, &cursor) == TIMELINE_OK
        && timeline_next(cursor, &newest) == TIMELINE_OK && newest.pid == (uint32_t)getpid();
    timeline_cursor_free(cursor);
    timeline_attached_free(attached);
    return ours;
}

/* Opens the timeline, and says its path: $TIMELINE_PRELOAD is shared by all processes that inherit
 * it, and made by the first; without it every program has its own, /preload-PID. A timeline of an
 * earlier run is not joined but kept, as NAME.prev. */
static timeline_status_t open_timeline(char *path, size_t size)
{
    const char *named = secure_getenv("TIMELINE_PRELOAD");
    const char *entries = secure_getenv("TIMELINE_PRELOAD_ENTRIES");
    uint64_t count = entries ? strtoull(entries, NULL, 0) : 0;
    if (named && *named)
        snprintf(path, size, "%s", named);
    else
        snprintf(path, size, "/preload-%ld", (long)getpid());
    const timeline_options_t options = {.entries = count};
    if (was_ours(path) && timeline_open(path, &timeline) == TIMELINE_OK)
        return TIMELINE_OK;
    return timeline_open_or_create(path, &options, &timeline);
}

/* Logs the count of a handler that interrupted the last event. */
__attribute__((destructor)) static void at_exit(void)
{
    if (atomic_load(&state) == LOGGING && atomic_load(&unlogged))
        timeline_log(timeline, events[UNLOGGED], (int64_t)atomic_exchange(&unlogged, 0), 0, 0, 0);
}

static void start(void)
{
    int expected = NOT_STARTED;
    char path[4096];
    /* The loader may allocate before the C library knows its environment. */
    if (!environ || !atomic_compare_exchange_strong(&state, &expected, STARTING))
        return;
    timeline_status_t status = open_timeline(path, sizeof path);
    for (int i = 0; status == TIMELINE_OK && i < EVENTS; i++)
        status = timeline_define(timeline, definitions[i].category, definitions[i].priority,
                                 definitions[i].message, &events[i]);
    if (status == TIMELINE_OK) {
        pthread_atfork(NULL, NULL, after_fork);
        pthread_key_create(&end_key, at_thread_end);
    } else {
        dprintf(STDERR_FILENO, "preload: logging nothing to %s: %s\n", path, timeline_last_error());
    }
    atomic_store(&state, status == TIMELINE_OK ? LOGGING : OFF);
}

/* Logs where the library may make calls of its own: the first event of a process, and of a
 * thread. */
static void log_first(enum event event, int64_t a0, int64_t a1, int64_t a2, int64_t a3)
{
    sigset_t before;
    block_signals(&before);
    inside = OWN;
    if (atomic_load(&state) == NOT_STARTED)
        start();
    if (atomic_load(&state) != LOGGING) {
        atomic_fetch_add(&unlogged, 1);
    } else if (timeline_enabled(timeline, events[event])) {
        timeline_log(timeline, events[event], a0, a1, a2, a3);
        if (!ending) {
            pthread_setspecific(end_key, timeline);
            known = 1;
        }
    }
    inside = NOTHING;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void log_event(enum event event, int64_t a0, int64_t a1, int64_t a2, int64_t a3)
{
    if (inside == OWN)
        return;
    int now = atomic_load_explicit(&state, memory_order_acquire);
    if (now == OFF || (now == LOGGING && !timeline_enabled(timeline, events[event])))
        return;
    if (inside == AN_EVENT) {
        atomic_fetch_add(&unlogged, 1);
        return;
    }
    int error = errno;
    if (!known) {
        log_first(event, a0, a1, a2, a3);
    } else {
        inside = AN_EVENT;
        atomic_signal_fence(memory_order_seq_cst);
        timeline_log(timeline, events[event], a0, a1, a2, a3);
        if (atomic_load_explicit(&unlogged, memory_order_relaxed) && timeline_enabled(timeline, events[UNLOGGED]))
            timeline_log(timeline, events[UNLOGGED], (int64_t)atomic_exchange(&unlogged, 0), 0, 0, 0);
        atomic_signal_fence(memory_order_seq_cst);
        inside = NOTHING;
    }
    errno = error;
}

#include "vfork.h"

/* ---- Memory ---------------------------------------------------------------------------------- */

EXPORT void *malloc(size_t size)
{
    if (resolving)
        return early_malloc(size);
    RESOLVE();
    void *block = real.malloc(size);
    if (block)
        log_event(MALLOC, (int64_t)size, (int64_t)block, 0, 0);
    else
        log_event(MALLOC_FAILED, (int64_t)size, errno, 0, 0);
    return block;
}

EXPORT void *calloc(size_t count, size_t size)
{
    if (resolving)
        return size && count > sizeof early / size ? NULL : early_malloc(count * size);
    RESOLVE();
    void *block = real.calloc(count, size);
    if (block)
        log_event(CALLOC, (int64_t)count, (int64_t)size, (int64_t)block, 0);
    else
        log_event(CALLOC_FAILED, (int64_t)count, (int64_t)size, errno, 0);
    return block;
}

EXPORT void *realloc(void *old, size_t size)
{
    if (resolving || is_early(old)) {
        void *block = resolving ? early_malloc(size) : malloc(size);
        if (block && old)
            memcpy(block, old, early_size(old) < size ? early_size(old) : size);
        return block;
    }
    RESOLVE();
    int64_t from = (int64_t)old;
    void *block = real.realloc(old, size);
    /* To 0 bytes: a free that returns NULL. */
    if (block || !size)
        log_event(REALLOC, from, (int64_t)size, (int64_t)block, 0);
    else
        log_event(REALLOC_FAILED, from, (int64_t)size, errno, 0);
    return block;
}

static void *aligned(void *block, size_t alignment, size_t size, int error)
{
    if (block)
        log_event(ALIGNED, (int64_t)size, (int64_t)alignment, (int64_t)block, 0);
    else
        log_event(ALIGNED_FAILED, (int64_t)size, (int64_t)alignment, error, 0);
    return block;
}

EXPORT void *memalign(size_t alignment, size_t size)
{
    RESOLVE();
    void *block = real.memalign(alignment, size);
    return aligned(block, alignment, size, errno);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    RESOLVE();
    void *block = real.aligned_alloc(alignment, size);
    return aligned(block, alignment, size, errno);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
    RESOLVE();
    int error = real.posix_memalign(block, alignment, size);
    aligned(error ? NULL : *block, alignment, size, error);
    return error;
}

EXPORT void free(void *block)
{
    if (resolving || is_early(block))
        return;
    RESOLVE();
    int64_t address = (int64_t)block;
    int error = errno;
    real.free(block);
    errno = error;
    log_event(FREE, address, 0, 0, 0);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static ssize_t transferred(enum event event, int fd, size_t size, ssize_t result)
{
    if (result >= 0)
        log_event(event, (int64_t)size, fd, result, 0);
    else
        log_event(event + 1, (int64_t)size, fd, errno, 0);
    return result;
}

EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
    RESOLVE();
    return transferred(READ, fd, size, real.read(fd, buffer, size));
}

/* Called by programs built with -D_FORTIFY_SOURCE, like the open functions ending in _2. */
EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t capacity)
{
    RESOLVE();
    return transferred(READ, fd, size, real.read_chk(fd, buffer, size, capacity));
}

EXPORT ssize_t write(int fd, const void *buffer, size_t size)
{
    RESOLVE();
    return transferred(WRITE, fd, size, real.write(fd, buffer, size));
}

static int opened(int flags, int fd)
{
    if (fd >= 0)
        log_event(OPEN, flags, fd, 0, 0);
    else
        log_event(OPEN_FAILED, flags, errno, 0, 0);
    return fd;
}

static int opened_at(int directory, int flags, int fd)
{
    if (fd >= 0)
        log_event(OPENAT, directory, flags, fd, 0);
    else
        log_event(OPENAT_FAILED, directory, flags, errno, 0);
    return fd;
}

/* The mode is there only when the call may make a file. */
#define MODE(mode, flags) \
    mode_t mode = 0; \
    if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

EXPORT int open(const char *path, int flags, ...)
{
    MODE(mode, flags)
    RESOLVE();
    return opened(flags, real.open(path, flags, mode));
}

EXPORT int open64(const char *path, int flags, ...)
{
    MODE(mode, flags)
    RESOLVE();
    return opened(flags, real.open64(path, flags, mode));
}

EXPORT int __open_2(const char *path, int flags)
{
    RESOLVE();
    return opened(flags, real.open_2(path, flags));
}

EXPORT int __open64_2(const char *path, int flags)
{
    RESOLVE();
    return opened(flags, real.open64_2(path, flags));
}

EXPORT int openat(int directory, const char *path, int flags, ...)
{
    MODE(mode, flags)
    RESOLVE();
    return opened_at(directory, flags, real.openat(directory, path, flags, mode));
}

EXPORT int openat64(int directory, const char *path, int flags, ...)
{
    MODE(mode, flags)
    RESOLVE();
    return opened_at(directory, flags, real.openat64(directory, path, flags, mode));
}

EXPORT int __openat_2(int directory, const char *path, int flags)
{
    RESOLVE();
    return opened_at(directory, flags, real.openat_2(directory, path, flags));
}

EXPORT int __openat64_2(int directory, const char *path, int flags)
{
    RESOLVE();
    return opened_at(directory, flags, real.openat64_2(directory, path, flags));
}

EXPORT int close(int fd)
{
    RESOLVE();
    int result = real.close(fd);
    if (!result)
        log_event(CLOSE, fd, 0, 0, 0);
    else
        log_event(CLOSE_FAILED, fd, errno, 0, 0);
    return result;
}
