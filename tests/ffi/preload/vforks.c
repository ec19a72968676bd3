/* vforks: makes calls in children of vfork, while other threads make calls on every CPU, and prints what has
 * to be found in the timeline afterwards:
 *
 *     stormed TID N      the thread wrote STORM bytes N times
 *     vforked TID N      the thread wrote BEFORE bytes, called vfork, and wrote AFTER bytes, N times
 *     others N           other processes, not of vfork or no more, wrote OTHER bytes N times
 *     children N         N calls were made in children of vfork, with sizes and flags of their own
 *     failed N           N of them failed
 *
 * It checks results and errno itself, and exits with 1 when one is not what it is without preload.so. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STORM = 31, BEFORE = 37, AFTER = 41, CHILD = 43, OTHER = 59 };
enum { EVENTS = 150000, ROUNDS = 100, VFORKERS = 3, MOST = 1024 };

static int sink, zeros;
static char buffer[64];
static cpu_set_t allowed;
static atomic_int storms;
static atomic_long others, children, failed;
static pthread_barrier_t begin;

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "vforks.c:%d: %s, errno %d\n", __LINE__, #condition, errno); \
            _exit(1); \
        } \
    } while (0)

/* What a thread did. */
struct work { pthread_t thread; long tid, times; };

static void *storm(void *work)
{
    struct work *mine = work;
    mine->tid = syscall(SYS_gettid);
    pthread_barrier_wait(&begin);
    for (long i = 0; i < mine->times; i++)
        CHECK(write(sink, buffer, STORM) == STORM);
    storms--;
    return NULL;
}

/* What a child does, on another CPU than its parent if it can, up to its end. */
static void child(long round)
{
    int cpu = sched_getcpu(), other = cpu;
    do
        other = (other + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(other, &allowed));
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(other, &there);
    sched_setaffinity(0, sizeof there, &there);
    for (int i = 0; i < 20; i++) {
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        CHECK(fd >= 0 && !close(fd));
        CHECK(read(zeros, buffer, CHILD) == CHILD && write(sink, buffer, CHILD) == CHILD);
        errno = 0;
        CHECK(write(-1, buffer, CHILD) == -1 && errno == EBADF);
        children += 5;
        failed++;
    }
    sched_setaffinity(0, sizeof allowed, &allowed);
    if (round % 16 == 0) {
        others++;
        execl("/proc/self/exe", "vforks", "again", (char *)NULL);
        CHECK(!"executed");
    }
    /* As a shell does that looks for a program. */
    execl("/absent/program", "absent", (char *)NULL);
    CHECK(errno == ENOENT && write(sink, buffer, CHILD) == CHILD);
    children++;
    _exit(0);
}

static void wait_for(pid_t pid)
{
    int status;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
}

/* Its first call is one of a child's. */
static void *vforker(void *work)
{
    struct work *mine = work;
    mine->tid = syscall(SYS_gettid);
    pthread_barrier_wait(&begin);
    for (mine->times = 0; storms || mine->times < ROUNDS; mine->times++) {
        pid_t pid = vfork();
        if (!pid)
            child(mine->times);
        CHECK(write(sink, buffer, AFTER) == AFTER);
        wait_for(pid);
        CHECK(write(sink, buffer, BEFORE) == BEFORE);
    }
    return NULL;
}

/* A vfork that fails leaves its errno, and all as it was. */
static void *refused(void *work)
{
    struct work *mine = work;
    mine->tid = syscall(SYS_gettid);
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_vfork, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
    for (mine->times = 0; mine->times < 10; mine->times++) {
        CHECK(write(sink, buffer, BEFORE) == BEFORE);
        errno = 0;
        pid_t pid = vfork();
        if (!pid)
            _exit(1);
        CHECK(pid == -1 && errno == EAGAIN);
        CHECK(write(sink, buffer, AFTER) == AFTER);
    }
    return NULL;
}

/* Forks while a child's calls are not told yet: they are the parent's to tell, and told once. */
static void fork_untold(void)
{
    pid_t vforked = vfork();
    if (!vforked)
        child(1);
    pid_t forked = fork();
    if (!forked) {
        /* The first event of a process tells nothing. */
        CHECK(write(sink, buffer, OTHER) == OTHER && write(sink, buffer, OTHER) == OTHER);
        _exit(0);
    }
    others += 2;
    wait_for(vforked);
    wait_for(forked);
}

static void start(struct work *work, void *(*what)(void *))
{
    CHECK(!pthread_create(&work->thread, NULL, what, work));
}

static void finish(struct work *work, const char *what)
{
    CHECK(!pthread_join(work->thread, NULL));
    printf("%s %ld %ld\n", what, work->tid, work->times);
}

int main(int argc, char **argv)
{
    (void)argv;
    sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
    zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    CHECK(sink >= 0 && zeros >= 0);
    if (argc > 1) {
        CHECK(write(sink, buffer, OTHER) == OTHER);
        return 0;
    }
    CHECK(!sched_getaffinity(0, sizeof allowed, &allowed));
    static struct work stormers[MOST], vforkers[VFORKERS], last;
    int count = 2 * CPU_COUNT(&allowed);
    storms = count = count < MOST ? count : MOST;
    CHECK(!pthread_barrier_init(&begin, NULL, (unsigned)(count + VFORKERS)));
    for (int i = 0; i < VFORKERS; i++)
        start(&vforkers[i], vforker);
    for (int i = 0; i < count; i++) {
        stormers[i].times = EVENTS / count;
        start(&stormers[i], storm);
    }
    for (int i = 0; i < count; i++)
        finish(&stormers[i], "stormed");
    for (int i = 0; i < VFORKERS; i++)
        finish(&vforkers[i], "vforked");
    start(&last, refused);
    finish(&last, "vforked");
    fork_untold();
    printf("others %ld\nchildren %ld\nfailed %ld\n", others, children, failed);
    return 0;
}
