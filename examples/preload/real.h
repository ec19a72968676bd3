/* The real functions, as dlsym finds them, and a heap for what dlsym allocates meanwhile. */
#ifndef PRELOAD_REAL_H
#define PRELOAD_REAL_H

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

/* Reached without a call: the ordinary model would allocate when a thread first touches it. */
#define THREAD static __thread __attribute__((tls_model("initial-exec")))

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void (*free)(void *);
    ssize_t (*read)(int, void *, size_t);
    ssize_t (*read_chk)(int, void *, size_t, size_t);
    ssize_t (*write)(int, const void *, size_t);
    int (*open)(const char *, int, ...);
    int (*open64)(const char *, int, ...);
    int (*open_2)(const char *, int);
    int (*open64_2)(const char *, int);
    int (*openat)(int, const char *, int, ...);
    int (*openat64)(int, const char *, int, ...);
    int (*openat_2)(int, const char *, int);
    int (*openat64_2)(int, const char *, int);
    int (*close)(int);
} real;

static const struct { const char *name; void *where; } names[] = {
    {"malloc", &real.malloc}, {"calloc", &real.calloc}, {"realloc", &real.realloc},
    {"memalign", &real.memalign}, {"aligned_alloc", &real.aligned_alloc},
    {"posix_memalign", &real.posix_memalign}, {"free", &real.free},
    {"read", &real.read}, {"__read_chk", &real.read_chk}, {"write", &real.write},
    {"open", &real.open}, {"open64", &real.open64}, {"__open_2", &real.open_2}, {"__open64_2", &real.open64_2},
    {"openat", &real.openat}, {"openat64", &real.openat64}, {"__openat_2", &real.openat_2},
    {"__openat64_2", &real.openat64_2}, {"close", &real.close},
};

static _Atomic int resolved;
THREAD int resolving;

/* There should be no second thread before the first call; if there is one, it finds the same
 * functions. */
static void resolve(void)
{
    resolving = 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *function = dlsym(RTLD_NEXT, names[i].name);
        memcpy(names[i].where, &function, sizeof function);
    }
    resolving = 0;
    atomic_store(&resolved, 1);
}

#define RESOLVE() \
    do { \
        if (!atomic_load_explicit(&resolved, memory_order_acquire)) \
            resolve(); \
    } while (0)

/* The heap of a thread that resolves. */
static _Alignas(16) char early[16384];
static _Atomic size_t early_used;

static void *early_malloc(size_t size)
{
    /* The size stands before the block, for realloc. The memory is zero, as calloc requires. */
    size_t all = (size + 31) & ~(size_t)15;
    size_t at = all > sizeof early ? sizeof early : atomic_fetch_add(&early_used, all);
    if (at + all > sizeof early) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(early + at, &size, sizeof size);
    return early + at + 16;
}

static int is_early(const void *block)
{
    return (uintptr_t)block - (uintptr_t)early < sizeof early;
}

static size_t early_size(const void *block)
{
    size_t size;
    memcpy(&size, (const char *)block - 16, sizeof size);
    return size;
}

#endif
