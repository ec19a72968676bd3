/* The bare clock and processor time for log.lua; benches/peers/common.h has them for C. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

double bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* User and system time of this process. */
double bench_cpu_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

/* Every logging call has to read it. */
void bench_clock_loop(uint64_t readings)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < readings; i++)
        sum += __builtin_ia32_rdtsc();
    __asm__ volatile("" : : "r"(sum));
}

/* Measured over a span that is long beside the reading of two clocks. */
double bench_ns_per_tick(void)
{
    double start = bench_now_ns();
    uint64_t ticks = __builtin_ia32_rdtsc();
    while (bench_now_ns() - start < 50e6)
        ;
    return (bench_now_ns() - start) / (double)(__builtin_ia32_rdtsc() - ticks);
}

/* Fenced, so that no part of the timed code runs before the first stamp or after the second. */
static uint64_t before;

void bench_before(void)
{
    __builtin_ia32_lfence();
    before = __builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
}

uint32_t bench_after(void)
{
    unsigned core;
    uint64_t ticks = __builtin_ia32_rdtscp(&core) - before;
    __builtin_ia32_lfence();
    return ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
}

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

void bench_sort(uint32_t *ticks, size_t count)
{
    qsort(ticks, count, sizeof *ticks, compare);
}
