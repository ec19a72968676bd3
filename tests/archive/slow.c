/* A disk that is slow: the first call that GATE_AT names (w: a write, d: making durable) is noted in the file GATE_NOTED, and
 * waits until somebody opens the pipe GATE; each write takes WRITE_SECONDS of the clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_long passed;
static atomic_int waited;

static void gate(char letter) {
    const char *at = getenv("GATE_AT");
    if (!at || at[0] != letter || atomic_exchange(&waited, 1)) return;
    int fd = open(getenv("GATE_NOTED"), O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || close(fd) != 0) abort();
    while ((fd = open(getenv("GATE"), O_RDONLY)) < 0)
        if (errno != EINTR) abort();
    close(fd);
}

int fdatasync(int fd) {
    int (*next)(int);
    *(void **)&next = dlsym(RTLD_NEXT, "fdatasync");
    gate('d');
    return next(fd);
}

ssize_t pwrite64(int fd, const void *from, size_t count, off64_t at) {
    ssize_t (*next)(int, const void *, size_t, off64_t);
    *(void **)&next = dlsym(RTLD_NEXT, "pwrite64");
    gate('w');
    const char *seconds = getenv("WRITE_SECONDS");
    atomic_fetch_add(&passed, seconds ? atol(seconds) : 0);
    return next(fd, from, count, at);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int (*next)(clockid_t, struct timespec *);
    *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    int result = next(clock, now);
    if (clock == CLOCK_MONOTONIC) now->tv_sec += atomic_load(&passed);
    return result;
}
