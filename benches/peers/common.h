/* Measures one way of logging beside the bare clock; all C and C++ programs of the bench use it.
 *
 * A program defines PEER_NAME and PEER_NOTE (a string or NULL), includes this file, which has main,
 * and then defines the functions declared under "A program defines". It is started as
 *
 *     PROGRAM --mode loop|sustained|latency --threads N --events E --repeats R
 *
 * where E counts the events of each thread, and prints one JSON object a repeat to stdout. In each
 * repeat all threads run the bare clock loop at the same time, then all of them the logging loop.
 * *_ns is the wall time of the slowest thread for one iteration of its own; *_cpu_ns is user and
 * system time of the whole process, divided by the iterations of all threads. The CPU time of the
 * logging loop includes the work that other threads still have to do at its end; its wall time does
 * not. With PEER_DAEMON_PIDS="PID PID" in the environment, daemon_cpu_ns is the CPU time of these
 * processes meanwhile. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* A program defines: */

/* Called once, before any thread logs. */
static void peer_open(int threads);
/* Called in each thread before its first event; the result is given to peer_log. */
static void *peer_thread(int thread);
/* Logs the event with i, i + 1, i + 2, i + 3. */
static inline __attribute__((always_inline)) void peer_log(void *state, int64_t i);
/* Waits until all background work is done. No thread logs meanwhile. */
static void peer_drain(void);
/* How many events were logged and not kept so far, or -1 if not known. */
static int64_t peer_lost(void);
/* Called once, after the last repeat; undoes peer_open. */
static void peer_close(void);
static const char *peer_version(void);

/* This file defines: */

enum bench_mode { BENCH_LOOP, BENCH_SUSTAINED, BENCH_LATENCY };

struct bench_options {
    enum bench_mode mode;
    int threads;
    uint64_t events;
    int repeats;
};

struct bench_thread {
    const struct bench_options *options;
    int index;
    double clock_ns, event_ns;
    /* Ticks of single calls, in latency mode. */
    uint32_t *empty, *calls;
};

struct bench_usage {
    double own, daemons;
};

static pthread_barrier_t bench_barrier;

__attribute__((noreturn, format(printf, 1, 2))) static void bench_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", PEER_NAME);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static double bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The builtin, here and below: x86intrin.h takes a compiler half a second for each program. */
static double bench_start_ns;
static uint64_t bench_start_ticks;

/* The longer the span, the less the two clocks' jitter counts. */
static double bench_ns_per_tick(void)
{
    double span;
    do {
        span = bench_now_ns() - bench_start_ns;
    } while (span < 50e6);
    return span / (double)(__builtin_ia32_rdtsc() - bench_start_ticks);
}

/* CPU time of another process, to the nanosecond; /proc/PID/stat counts in hundredths of a
 * second. */
static double bench_process_ns(long pid)
{
    clockid_t clock;
    struct timespec used;
    int error = clock_getcpuclockid((pid_t)pid, &clock);
    if (error || clock_gettime(clock, &used) != 0)
        bench_fail("PEER_DAEMON_PIDS: expected running processes, got %ld", pid);
    return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

static struct bench_usage bench_usage_now(void)
{
    struct rusage usage;
    struct bench_usage result;
    getrusage(RUSAGE_SELF, &usage);
    result.own = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
    result.daemons = 0;
    const char *pids = getenv("PEER_DAEMON_PIDS");
    char *end;
    for (long pid; pids && (pid = strtol(pids, &end, 10)) > 0; pids = end)
        result.daemons += bench_process_ns(pid);
    return result;
}

/* The kernel updates the time of a running thread when that thread asks, or at the next timer
 * tick. */
static void bench_account(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
}

/* The bare clock, which every logging call has to read. */
static double bench_clock_loop(uint64_t events)
{
    uint64_t sum = 0;
    double start = bench_now_ns();
    for (uint64_t i = 0; i < events; i++)
        sum += __builtin_ia32_rdtsc();
    __asm__ volatile("" : : "r"(sum));
    return (bench_now_ns() - start) / (double)events;
}

static double bench_event_loop(void *state, uint64_t events)
{
    double start = bench_now_ns();
    for (uint64_t i = 0; i < events; i++)
        peer_log(state, (int64_t)i);
    return (bench_now_ns() - start) / (double)events;
}

/* Fenced, so that no part of the call runs before the first stamp or after the second. */
static inline uint64_t bench_ticks_before(void)
{
    __builtin_ia32_lfence();
    uint64_t ticks = __builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
    return ticks;
}

static inline uint64_t bench_ticks_after(void)
{
    unsigned core;
    uint64_t ticks = __builtin_ia32_rdtscp(&core);
    __builtin_ia32_lfence();
    return ticks;
}

static inline uint32_t bench_ticks_between(uint64_t before, uint64_t after)
{
    return after - before > UINT32_MAX ? UINT32_MAX : (uint32_t)(after - before);
}

static void bench_time_calls(struct bench_thread *thread, void *state)
{
    uint64_t events = thread->options->events;
    for (uint64_t i = 0; i < events; i++) {
        uint64_t before = bench_ticks_before();
        __asm__ volatile("" : : : "memory");
        thread->empty[i] = bench_ticks_between(before, bench_ticks_after());
    }
    for (uint64_t i = 0; i < events; i++) {
        uint64_t before = bench_ticks_before();
        peer_log(state, (int64_t)i);
        thread->calls[i] = bench_ticks_between(before, bench_ticks_after());
    }
}

static void *bench_thread_main(void *argument)
{
    struct bench_thread *thread = (struct bench_thread *)argument;
    const struct bench_options *options = thread->options;
    void *state = peer_thread(thread->index);
    uint64_t warm_up = options->events < 10000 ? options->events : 10000;
    bench_clock_loop(warm_up);
    bench_event_loop(state, warm_up);
    pthread_barrier_wait(&bench_barrier);
    for (int repeat = 0; repeat < options->repeats; repeat++) {
        pthread_barrier_wait(&bench_barrier);
        if (options->mode == BENCH_LATENCY) {
            bench_time_calls(thread, state);
        } else {
            thread->clock_ns = bench_clock_loop(options->events);
            bench_account();
            pthread_barrier_wait(&bench_barrier);
            pthread_barrier_wait(&bench_barrier);
            thread->event_ns = bench_event_loop(state, options->events);
            bench_account();
        }
        pthread_barrier_wait(&bench_barrier);
    }
    return NULL;
}

static int bench_compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static void bench_print_text(const char *name, const char *text)
{
    if (!text) {
        printf(",\"%s\":null", name);
        return;
    }
    printf(",\"%s\":\"", name);
    for (; *text; text++)
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    putchar('"');
}

static void bench_print_head(const struct bench_options *options, int repeat)
{
    static const char *const names[] = {"loop", "sustained", "latency"};
    printf("{\"peer\":\"%s\",\"mode\":\"%s\",\"threads\":%d,\"events\":%" PRIu64 ",\"repeat\":%d", PEER_NAME,
           names[options->mode], options->threads, options->events, repeat);
}

static void bench_print_tail(void)
{
    int64_t lost = peer_lost();
    if (lost < 0)
        printf(",\"lost\":null");
    else
        printf(",\"lost\":%" PRId64, lost);
    bench_print_text("note", PEER_NOTE);
    bench_print_text("version", peer_version());
    printf("}\n");
    fflush(stdout);
}

static void bench_repeat_loop(const struct bench_options *options, struct bench_thread *threads, int repeat)
{
    struct bench_usage usage[4];
    double clock_ns = 0, event_ns = 0, total = (double)options->events * options->threads;
    usage[0] = bench_usage_now();
    pthread_barrier_wait(&bench_barrier);
    pthread_barrier_wait(&bench_barrier);
    usage[1] = bench_usage_now();
    usage[2] = bench_usage_now();
    pthread_barrier_wait(&bench_barrier);
    pthread_barrier_wait(&bench_barrier);
    peer_drain();
    usage[3] = bench_usage_now();
    for (int i = 0; i < options->threads; i++) {
        clock_ns = threads[i].clock_ns > clock_ns ? threads[i].clock_ns : clock_ns;
        event_ns = threads[i].event_ns > event_ns ? threads[i].event_ns : event_ns;
    }
    bench_print_head(options, repeat);
    printf(",\"clock_ns\":%.3f,\"event_ns\":%.3f,\"clock_cpu_ns\":%.3f,\"event_cpu_ns\":%.3f", clock_ns, event_ns,
           (usage[1].own - usage[0].own) / total, (usage[3].own - usage[2].own) / total);
    if (getenv("PEER_DAEMON_PIDS"))
        printf(",\"daemon_cpu_ns\":%.3f", (usage[3].daemons - usage[2].daemons) / total);
    bench_print_tail();
}

static void bench_repeat_latency(const struct bench_options *options, uint32_t *empty, uint32_t *calls, int repeat)
{
    static const struct {
        const char *name;
        uint64_t per_10000;
    } ranks[] = {{"p50", 5000}, {"p99", 9900}, {"p999", 9990}, {"p9999", 9999}};
    uint64_t total = options->events * (uint64_t)options->threads;
    pthread_barrier_wait(&bench_barrier);
    pthread_barrier_wait(&bench_barrier);
    peer_drain();
    qsort(empty, total, sizeof *empty, bench_compare);
    qsort(calls, total, sizeof *calls, bench_compare);
    double ns_per_tick = bench_ns_per_tick();
    bench_print_head(options, repeat);
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        printf(",\"%s_ns\":%.2f", ranks[i].name, calls[(total - 1) * ranks[i].per_10000 / 10000] * ns_per_tick);
    printf(",\"max_ns\":%.2f,\"clock_p50_ns\":%.2f", calls[total - 1] * ns_per_tick, empty[total / 2] * ns_per_tick);
    bench_print_tail();
}

static uint64_t bench_number(const char *name, const char *text)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = text ? strtoull(text, &end, 10) : 0;
    if (!text || *text < '0' || *text > '9' || *end || errno || number == 0)
        bench_fail("%s: expected a number above 0, got %s", name, text ? text : "nothing");
    return number;
}

static struct bench_options bench_parse(int argc, char **argv)
{
    struct bench_options options = {BENCH_LOOP, 1, 1000000, 5};
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(name, "--threads") == 0)
            options.threads = (int)bench_number(name, value);
        else if (strcmp(name, "--events") == 0)
            options.events = bench_number(name, value);
        else if (strcmp(name, "--repeats") == 0)
            options.repeats = (int)bench_number(name, value);
        else if (strcmp(name, "--mode") != 0)
            bench_fail("expected --mode, --threads, --events or --repeats, got %s", name);
        else if (value && strcmp(value, "loop") == 0)
            options.mode = BENCH_LOOP;
        else if (value && strcmp(value, "sustained") == 0)
            options.mode = BENCH_SUSTAINED;
        else if (value && strcmp(value, "latency") == 0)
            options.mode = BENCH_LATENCY;
        else
            bench_fail("--mode: expected loop, sustained or latency, got %s", value ? value : "nothing");
    }
    return options;
}

/* Touched, so that no page fault falls between two measured calls. */
static uint32_t *bench_samples(uint64_t count)
{
    uint32_t *samples = (uint32_t *)malloc(count * sizeof *samples);
    if (!samples)
        bench_fail("no memory for %" PRIu64 " samples: ask for fewer --events", count);
    memset(samples, 1, count * sizeof *samples);
    return samples;
}

int main(int argc, char **argv)
{
    struct bench_options options = bench_parse(argc, argv);
    int latency = options.mode == BENCH_LATENCY;
    uint64_t total = options.events * (uint64_t)options.threads;
    struct bench_thread *threads = (struct bench_thread *)calloc((size_t)options.threads, sizeof *threads);
    pthread_t *ids = (pthread_t *)calloc((size_t)options.threads, sizeof *ids);
    uint32_t *empty = latency ? bench_samples(total) : NULL, *calls = latency ? bench_samples(total) : NULL;

    bench_start_ns = bench_now_ns();
    bench_start_ticks = __builtin_ia32_rdtsc();
    peer_open(options.threads);
    pthread_barrier_init(&bench_barrier, NULL, (unsigned)options.threads + 1);
    for (int i = 0; i < options.threads; i++) {
        threads[i].options = &options;
        threads[i].index = i;
        if (latency) {
            threads[i].empty = empty + options.events * (uint64_t)i;
            threads[i].calls = calls + options.events * (uint64_t)i;
        }
        int error = pthread_create(&ids[i], NULL, bench_thread_main, &threads[i]);
        if (error)
            bench_fail("thread %d: %s", i, strerror(error));
    }
    pthread_barrier_wait(&bench_barrier);
    peer_drain();
    for (int repeat = 0; repeat < options.repeats; repeat++) {
        if (latency)
            bench_repeat_latency(&options, empty, calls, repeat);
        else
            bench_repeat_loop(&options, threads, repeat);
    }
    for (int i = 0; i < options.threads; i++)
        pthread_join(ids[i], NULL);
    peer_close();
    free(empty);
    free(calls);
    free(ids);
    free(threads);
    return 0;
}

#endif
