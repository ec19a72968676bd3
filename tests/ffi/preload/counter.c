/* counter: counts the calls that a program makes to the functions preload.so logs, independently of it.
 *
 * Loaded before preload.so (LD_PRELOAD="counter.so preload.so"), so that every call of the program comes
 * here first. Calls that arrive while another one is under way in the same thread were made by what is
 * below (preload.so, the timeline library, the loader), not by the program, and are not counted. Those of a
 * child of vfork are counted apart, whatever they are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The order in which tests/ffi/preload/calls.rs reads them. */
enum kind { MALLOC, CALLOC, REALLOC, ALIGNED, FREE, READ, WRITE, OPEN, OPENAT, CLOSE, VFORKED, KINDS };
/* `sum` adds up the sizes asked for, the bytes moved, the descriptors or the addresses. */
struct count { _Atomic uint64_t done, failed, sum; };

static struct count early[KINDS];
static struct count *_Atomic counts = early;
static _Atomic int mapping;
static __thread __attribute__((tls_model("initial-exec"))) int depth;

/* Whose memory this is; that of another only in a child of vfork. */
static pid_t owner;

static void own(void)
{
    owner = getpid();
}

__attribute__((constructor)) static void begin(void)
{
    depth++;
    pthread_atfork(NULL, NULL, own);
    depth--;
}

/* The counts of all processes together stand in the file $COUNTER_FILE. Made without calling anything
 * that is counted. */
static void map(void)
{
    const char *file = getenv("COUNTER_FILE");
    if (!file)
        abort();
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof early))
        abort();
    struct count *shared = mmap(NULL, sizeof early, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        abort();
    syscall(SYS_close, fd);
    for (int i = 0; i < KINDS; i++) {
        shared[i].done += early[i].done;
        shared[i].failed += early[i].failed;
        shared[i].sum += early[i].sum;
    }
    counts = shared;
}

static void count(enum kind kind, int failed, uint64_t amount)
{
    if (depth)
        return;
    int error = errno;
    if (environ && !atomic_exchange(&mapping, 1)) {
        depth++;
        own();
        map();
        depth--;
    }
#ifdef __x86_64__ /* elsewhere they are logged like any other */
    if (owner && owner != getpid()) {
        kind = VFORKED;
        failed = 0;
    }
#endif
    struct count *c = &counts[kind];
    atomic_fetch_add(failed ? &c->failed : &c->done, 1);
    atomic_fetch_add(&c->sum, amount);
    errno = error;
}

/* What dlsym allocates while the first function is looked up; never given back. */
static _Alignas(16) char heap[16384];
static _Atomic size_t heap_used;
static __thread __attribute__((tls_model("initial-exec"))) int looking;

static void *heap_malloc(size_t size)
{
    size_t at = atomic_fetch_add(&heap_used, (size + 15) & ~(size_t)15);
    return at + size <= sizeof heap ? heap + at : NULL;
}

#define NEXT(result, function, ...) \
    static result (*_Atomic next_)(__VA_ARGS__); \
    result (*next)(__VA_ARGS__) = next_; \
    if (!next) { \
        looking++; \
        void *found = dlsym(RTLD_NEXT, #function); \
        looking--; \
        memcpy(&next, &found, sizeof next); \
        next_ = next; \
    }

/* Calls the next function as a call under way. */
#define CALL(type, result, call) \
    depth++; \
    type result = call; \
    depth--

EXPORT void *malloc(size_t size)
{
    if (looking)
        return heap_malloc(size);
    NEXT(void *, malloc, size_t)
    CALL(void *, block, next(size));
    count(MALLOC, !block, size);
    return block;
}

EXPORT void *calloc(size_t n, size_t size)
{
    if (looking)
        return heap_malloc(n * size);
    NEXT(void *, calloc, size_t, size_t)
    CALL(void *, block, next(n, size));
    count(CALLOC, !block, n * size);
    return block;
}

EXPORT void *realloc(void *old, size_t size)
{
    NEXT(void *, realloc, void *, size_t)
    CALL(void *, block, next(old, size));
    count(REALLOC, !block && size, size);
    return block;
}

EXPORT void *memalign(size_t alignment, size_t size)
{
    NEXT(void *, memalign, size_t, size_t)
    CALL(void *, block, next(alignment, size));
    count(ALIGNED, !block, size);
    return block;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    NEXT(void *, aligned_alloc, size_t, size_t)
    CALL(void *, block, next(alignment, size));
    count(ALIGNED, !block, size);
    return block;
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
    NEXT(int, posix_memalign, void **, size_t, size_t)
    CALL(int, error, next(block, alignment, size));
    count(ALIGNED, error, size);
    return error;
}

EXPORT void free(void *block)
{
    if ((uintptr_t)block - (uintptr_t)heap < sizeof heap)
        return;
    NEXT(void, free, void *)
    uint64_t address = (uint64_t)block;
    depth++;
    next(block);
    depth--;
    count(FREE, 0, address);
}

EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
    NEXT(ssize_t, read, int, void *, size_t)
    CALL(ssize_t, result, next(fd, buffer, size));
    count(READ, result < 0, result < 0 ? 0 : (uint64_t)result);
    return result;
}

EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t capacity)
{
    NEXT(ssize_t, __read_chk, int, void *, size_t, size_t)
    CALL(ssize_t, result, next(fd, buffer, size, capacity));
    count(READ, result < 0, result < 0 ? 0 : (uint64_t)result);
    return result;
}

EXPORT ssize_t write(int fd, const void *buffer, size_t size)
{
    NEXT(ssize_t, write, int, const void *, size_t)
    CALL(ssize_t, result, next(fd, buffer, size));
    count(WRITE, result < 0, result < 0 ? 0 : (uint64_t)result);
    return result;
}

/* A mode is passed on even where none was given: it is not looked at then. */
#define OPEN_FUNCTION(name) \
    EXPORT int name(const char *path, int flags, ...) \
    { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = va_arg(rest, mode_t); \
        va_end(rest); \
        NEXT(int, name, const char *, int, ...) \
        CALL(int, fd, next(path, flags, mode)); \
        count(OPEN, fd < 0, fd < 0 ? 0 : (uint64_t)fd); \
        return fd; \
    }
OPEN_FUNCTION(open)
OPEN_FUNCTION(open64)

#define OPENAT_FUNCTION(name) \
    EXPORT int name(int directory, const char *path, int flags, ...) \
    { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = va_arg(rest, mode_t); \
        va_end(rest); \
        NEXT(int, name, int, const char *, int, ...) \
        CALL(int, fd, next(directory, path, flags, mode)); \
        count(OPENAT, fd < 0, fd < 0 ? 0 : (uint64_t)fd); \
        return fd; \
    }
OPENAT_FUNCTION(openat)
OPENAT_FUNCTION(openat64)

#define OPEN_2_FUNCTION(name) \
    EXPORT int name(const char *path, int flags) \
    { \
        NEXT(int, name, const char *, int) \
        CALL(int, fd, next(path, flags)); \
        count(OPEN, fd < 0, fd < 0 ? 0 : (uint64_t)fd); \
        return fd; \
    }
OPEN_2_FUNCTION(__open_2)
OPEN_2_FUNCTION(__open64_2)

#define OPENAT_2_FUNCTION(name) \
    EXPORT int name(int directory, const char *path, int flags) \
    { \
        NEXT(int, name, int, const char *, int) \
        CALL(int, fd, next(directory, path, flags)); \
        count(OPENAT, fd < 0, fd < 0 ? 0 : (uint64_t)fd); \
        return fd; \
    }
OPENAT_2_FUNCTION(__openat_2)
OPENAT_2_FUNCTION(__openat64_2)

EXPORT int close(int fd)
{
    NEXT(int, close, int)
    CALL(int, result, next(fd));
    count(CLOSE, result != 0, result ? 0 : (uint64_t)fd);
    return result;
}
