/* known: makes calls whose number, order, sizes and results are known, in every place where a program
 * can, and prints what has to be found in the timeline afterwards:
 *
 *     rounds TID N       the thread made N rounds (see `rounds`), one after the other
 *     early N            N mallocs of EARLY bytes were made before main
 *     late N             N of LATE bytes by a destructor of thread-specific data
 *     cancelled N        N of PENDING bytes were the first calls of threads that were cancelled before
 *     handler N          N writes of HANDLER bytes were made by a signal handler
 *
 * It checks results and errno itself, and exits with 1 when one is not what it is without preload.so. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EARLY = 4801, LATE = 4803, PENDING = 4807, HANDLER = 43, ROUNDS = 300, THREADS = 8, CHILDREN = 6 };
enum { PAIRS = 100000, SIGNALS = 2000 };

/* Keeps the compiler from leaving out what has no visible effect. */
static void *volatile keep;
static int sink, zeros;
static char buffer[64];

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "known.c:%d: %s, errno %d\n", __LINE__, #condition, errno); \
            _exit(1); \
        } \
    } while (0)

#define FAILS(call, with) \
    do { \
        errno = 0; \
        CHECK((call) == -1 && errno == (with)); \
    } while (0)

/* Every kind of call once, in an order that the test knows. */
static void round_of_calls(void)
{
    errno = 77;
    char *block = malloc(4909);
    keep = block;
    memset(block, 1, 4909);
    block = realloc(block, 4903);
    keep = block;
    CHECK(block && block[4902] == 1);
    free(block);
    block = calloc(7, 701);
    keep = block;
    CHECK(block && !block[4906]);
    free(block);
    void *aligned = NULL;
    CHECK(!posix_memalign(&aligned, 256, 4864) && !((uintptr_t)aligned & 255));
    free(aligned);
    CHECK(write(sink, buffer, 37) == 37);
    CHECK(read(zeros, buffer, 41) == 41);
    CHECK(errno == 77);
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && !close(fd));
    fd = openat(AT_FDCWD, "/dev/null", O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0 && !close(fd));
    CHECK(errno == 77);
    FAILS(close(-1), EBADF);
    FAILS(read(-1, buffer, 47), EBADF);
    FAILS(write(-1, buffer, 53), EBADF);
    FAILS(open("/absent/file", O_RDONLY), ENOENT);
    FAILS(openat(-1, "absent", O_RDONLY), EBADF);
    errno = 0;
    /* Not by way of keep, to which the other threads write. */
    void *volatile none = malloc(PTRDIFF_MAX);
    CHECK(!none && errno == ENOMEM);
}

static void rounds(void)
{
    for (int i = 0; i < ROUNDS; i++)
        round_of_calls();
    /* Not by printf: a child forked just then would print it again. */
    dprintf(STDOUT_FILENO, "rounds %ld %d\n", syscall(SYS_gettid), ROUNDS);
}

__attribute__((constructor)) static void before_main(void)
{
    for (int i = 0; i < 5; i++) {
        keep = malloc(EARLY);
        free(keep);
    }
}

static pthread_key_t key;
static atomic_int late;

/* Runs while the thread ends; asks to be run again, so that it also runs after everybody else's. */
static void at_thread_end(void *times)
{
    keep = malloc(LATE);
    free(keep);
    late++;
    if ((intptr_t)times > 1)
        pthread_setspecific(key, (void *)((intptr_t)times - 1));
}

static void *thread(void *unused)
{
    (void)unused;
    CHECK(!pthread_setspecific(key, (void *)3));
    rounds();
    return NULL;
}

static atomic_int handled;

static void handler(int signal)
{
    (void)signal;
    int error = errno;
    if (write(sink, buffer, HANDLER) != HANDLER)
        _exit(1);
    handled++;
    errno = error;
}

static void child(void)
{
    rounds();
    _exit(0);
}

/* malloc is no cancellation point. */
static void *cancelled(void *unused)
{
    CHECK(!pthread_cancel(pthread_self()));
    keep = malloc(PENDING);
    CHECK(keep);
    free(keep);
    pthread_testcancel();
    return unused;
}

int main(void)
{
    sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
    zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    CHECK(sink >= 0 && zeros >= 0 && !pthread_key_create(&key, at_thread_end));
    rounds();

    /* Children forked while other threads are in the middle of everything; more threads than ever live
     * at once, so that what they leave is used again. */
    for (int generation = 0; generation < 2; generation++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            CHECK(!pthread_create(&threads[i], NULL, thread, NULL));
        for (int i = 0; i < CHILDREN / 2; i++) {
            pid_t pid = fork();
            CHECK(pid >= 0);
            if (!pid)
                child();
        }
        for (int i = 0; i < THREADS; i++)
            CHECK(!pthread_join(threads[i], NULL));
        for (int i = 0; i < CHILDREN / 2; i++) {
            int status;
            CHECK(wait(&status) > 0 && !status);
        }
    }

    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        void *result;
        CHECK(!pthread_create(&thread, NULL, cancelled, NULL));
        CHECK(!pthread_join(thread, &result) && result == PTHREAD_CANCELED);
    }

    /* A handler that interrupts calls at any moment, and logs itself. */
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    CHECK(!sigaction(SIGALRM, &action, NULL));
    CHECK(!setitimer(ITIMER_REAL, &often, NULL));
    /* However fast the calls are and the signals come, the ring must hold them. */
    for (int i = 0; (i < PAIRS && handled < SIGNALS) || !handled; i++) {
        keep = malloc(100);
        free(keep);
    }
    CHECK(!setitimer(ITIMER_REAL, &never, NULL));

    printf("early 5\nlate %d\ncancelled %d\nhandler %d\n", late, THREADS, handled);
    return 0;
}
