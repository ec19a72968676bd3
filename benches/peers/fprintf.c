/* Logging written by hand, as a reference: clock_gettime and fprintf to a file. */
#define PEER_NAME "fprintf"
#define PEER_NOTE "writes text to a file in TMPDIR"
#include "common.h"

#include <gnu/libc-version.h>
#include <unistd.h>

static FILE *output;

static void peer_open(int threads)
{
    (void)threads;
    char path[4096];
    const char *directory = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/bench-fprintf-XXXXXX", directory ? directory : "/tmp");
    int descriptor = mkstemp(path);
    output = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    if (!output)
        bench_fail("%s: %s: set TMPDIR to a directory that can be written", path, strerror(errno));
    /* No process reads it, and a killed run leaves nothing behind. */
    unlink(path);
    setvbuf(output, NULL, _IOFBF, 1 << 16);
}

static void *peer_thread(int thread)
{
    (void)thread;
    return NULL;
}

static inline void peer_log(void *state, int64_t i)
{
    (void)state;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    fprintf(output, "%lld.%09ld event a=%" PRId64 " b=%" PRId64 " c=%" PRId64 " d=%" PRId64 "\n",
            (long long)now.tv_sec, now.tv_nsec, i, i + 1, i + 2, i + 3);
}

static void peer_drain(void)
{
    if (fflush(output) != 0)
        bench_fail("writing the log: %s", strerror(errno));
}

static int64_t peer_lost(void)
{
    return ferror(output) ? -1 : 0;
}

static void peer_close(void)
{
    fclose(output);
}

static const char *peer_version(void)
{
    static char version[64];
    snprintf(version, sizeof version, "glibc %s", gnu_get_libc_version());
    return version;
}
