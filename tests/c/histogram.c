/* Percentiles of a program's own spans. histogram DIR: an empty directory. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>

#include <timeline.h>

#include "check.h"

static char path[4096];

static void refuses(const char *what, int32_t from, const char *why) {
  timeline_histogram_t *histogram = NULL;
  CHECK_EQ(timeline_histogram(path, what, from, &histogram), TIMELINE_E_ARGUMENT);
  CHECK(histogram == NULL && strstr(timeline_last_error(), why));
}

static timeline_t *tl;
static timeline_span_events_t breath;
static int is_over;

static void *log_until_the_end(void *none) {
  while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
    timeline_log(tl, breath.begin, 0, 0, 0, 0);
    timeline_log(tl, breath.end, 0, 0, 0, 0);
  }
  return none;
}

static void log_breaths(int count) {
  for (int n = 0; n < count; n++) {
    timeline_log(tl, breath.begin, n, 0, 0, 0);
    timeline_log(tl, breath.end, n, 0, 0, 0);
  }
}

/* Stays on the present CPU. A thread that changes it has events in two lanes. Then all before the first that is left of
 * the new lane is in a hole, which may be nearly all. */
static void stay(cpu_set_t *all) {
  cpu_set_t one;
  CHECK_EQ(sched_getaffinity(0, sizeof *all, all), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

static uint64_t now(void) {
  struct timespec time;
  CHECK_EQ(clock_gettime(CLOCK_REALTIME, &time), 0);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void restart(void) {
  timeline_free(tl);
  CHECK_EQ(timeline_new(path, 1024, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define_span(tl, "engine", TIMELINE_INFO, "breath $n", NULL, &breath), TIMELINE_OK);
}

/* One update reads what the former run left and the next one has. What was open is lost, once. What
 * the next run overwrote is missing since that began. */
static void goes_on_once(timeline_histogram_t *all) {
  const uint64_t lost = timeline_histogram_lost(all);
  CHECK_EQ(timeline_histogram_reset(all), TIMELINE_OK);
  log_breaths(3);
  timeline_log(tl, breath.begin, 0, 0, 0, 0);
  restart();
  log_breaths(5);
  CHECK_EQ(timeline_histogram_update(all), TIMELINE_OK);
  CHECK_EQ(timeline_histogram_count(all), 8);
  for (int n = 0; n < 3; n++) {
    CHECK_EQ(timeline_histogram_lost(all), lost + 1);
    CHECK_EQ(timeline_histogram_update(all), TIMELINE_OK);
  }
  CHECK_EQ(timeline_histogram_missed(all), 0);
  {
    const uint64_t before = now();
    restart();
    const uint64_t after = now();
    log_breaths(5000);
    CHECK_EQ(timeline_histogram_update(all), TIMELINE_OK);
    const uint64_t missed = timeline_histogram_missed(all);
    CHECK(missed >= 8900 && missed < 10000);
    CHECK(timeline_histogram_missed_since(all) >= before);
    CHECK(timeline_histogram_missed_since(all) <= after);
    CHECK_EQ(timeline_histogram_update(all), TIMELINE_OK);
    CHECK_EQ(timeline_histogram_missed(all), missed);
  }
}

int main(int argc, char **argv) {
  pthread_t thread;
  timeline_histogram_t *all, *every;
  uint64_t last = 0;
  cpu_set_t cpus;
  CHECK_EQ(argc, 2);
  snprintf(path, sizeof path, "%s/histogram.timeline", argv[1]);
  CHECK_EQ(timeline_new(path, 1024, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define_span(tl, "engine", TIMELINE_INFO, "breath $n", NULL, &breath), TIMELINE_OK);
  CHECK_EQ(timeline_histogram(path, "engine.*", TIMELINE_FROM_OLDEST, &all), TIMELINE_OK);
  CHECK_EQ(timeline_histogram(path, "every engine.end_breath", TIMELINE_FROM_NOW, &every), TIMELINE_OK);
  CHECK_EQ(timeline_histogram_percentile(all, 50), 0);
  for (int n = 0; n < 200; n++) {
    timeline_log(tl, breath.begin, n, 0, 0, 0);
    timeline_log(tl, breath.end, n, 0, 0, 0);
    if (n % 50 == 0) CHECK_EQ(timeline_histogram_update(all), TIMELINE_OK);
  }
  CHECK_EQ(timeline_histogram_update(all), TIMELINE_OK);
  CHECK_EQ(timeline_histogram_update(every), TIMELINE_OK);
  CHECK_EQ(timeline_histogram_count(all), 200);
  CHECK_EQ(timeline_histogram_count(every), 199);
  for (int percent = 0; percent <= 100; percent++) {
    const uint64_t value = timeline_histogram_percentile(all, percent);
    CHECK(value >= last && value > 0);
    last = value;
  }
  CHECK_EQ(timeline_histogram_percentile(all, 1e9), last);
  CHECK_EQ(timeline_histogram_percentile(all, -1), timeline_histogram_percentile(all, 0));
  CHECK_EQ(timeline_histogram_percentile(all, 0.0 / 0.0), timeline_histogram_percentile(all, 0));
  CHECK(timeline_histogram_mean(all) <= (double)last);
  CHECK_EQ(timeline_histogram_lost(all), 0);
  CHECK_EQ(timeline_histogram_reset(all), TIMELINE_OK);
  CHECK_EQ(timeline_histogram_count(all), 0);

  /* What the ring overwrote is counted, and not guessed. */
  timeline_log(tl, breath.begin, 0, 0, 0, 0);
  CHECK_EQ(timeline_histogram_update(all), TIMELINE_OK);
  for (int n = 0; n < 5000; n++) timeline_log(tl, breath.begin, n, 0, 0, 0);
  timeline_log(tl, breath.end, 0, 0, 0, 0);
  CHECK_EQ(timeline_histogram_update(all), TIMELINE_OK);
  CHECK_EQ(timeline_histogram_count(all), 1);
  CHECK(timeline_histogram_lost(all) >= 1);
  CHECK(timeline_histogram_missed(all) > 3500 && timeline_histogram_missed(all) <= 5001);
  CHECK(timeline_histogram_missed_since(all) > 1500000000000000000ull);
  CHECK_EQ(timeline_histogram_reset(all), TIMELINE_OK);
  CHECK_EQ(timeline_histogram_missed(all) + timeline_histogram_missed_since(all), 0);
  stay(&cpus);
  log_breaths(100000);
  CHECK_EQ(timeline_histogram_update(all), TIMELINE_OK);
  CHECK_EQ(sched_setaffinity(0, sizeof cpus, &cpus), 0);
  CHECK(timeline_histogram_count(all) > 100 && timeline_histogram_count(all) <= 512);
  CHECK(timeline_histogram_missed(all) + 2 * timeline_histogram_count(all) >= 199000);

  /* An update ends although another thread logs without a pause. */
  CHECK_EQ(pthread_create(&thread, NULL, log_until_the_end, NULL), 0);
  while (timeline_histogram_count(all) < 10000) CHECK_EQ(timeline_histogram_update(all), TIMELINE_OK);
  __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(timeline_histogram_update(all), TIMELINE_OK);

  refuses("two words", TIMELINE_FROM_OLDEST, "expected a span");
  refuses(NULL, TIMELINE_FROM_OLDEST, "what");
  refuses("a", 7, "no place to begin");
  refuses("engine.braeth", TIMELINE_FROM_NOW, "did you mean engine.breath?");
  refuses("every engine.begin_breth", TIMELINE_FROM_NOW, "did you mean engine.begin_breath?");
  refuses("engine.begin_breath..engine.end_breath by nn", TIMELINE_FROM_NOW, "did you mean n?");
  refuses("engine.begin_breath..engine.end_breath by size", TIMELINE_FROM_NOW, "there are: n");
  refuses("Engine.breath", TIMELINE_FROM_NOW, "did you mean engine.breath?");
  CHECK_EQ(timeline_histogram(path, "a", TIMELINE_FROM_NOW, NULL), TIMELINE_E_ARGUMENT);
  CHECK_EQ(timeline_histogram(NULL, "a", TIMELINE_FROM_NOW, &every), TIMELINE_E_ARGUMENT);
  CHECK_EQ(timeline_histogram_update(NULL), TIMELINE_E_ARGUMENT);
  CHECK_EQ(timeline_histogram_reset(NULL), TIMELINE_E_ARGUMENT);
  CHECK_EQ(timeline_histogram_count(NULL) + timeline_histogram_percentile(NULL, 50), 0);
  CHECK_EQ(timeline_histogram_missed(NULL) + timeline_histogram_missed_since(NULL), 0);
  CHECK(timeline_histogram_mean(NULL) == 0 && timeline_histogram_lost(NULL) == 0);
  timeline_histogram_free(NULL);
  /* It works when the timeline of its program is freed. */
  timeline_free(tl);
  CHECK_EQ(timeline_histogram_update(every), TIMELINE_OK);
  /* It goes on with the timeline of the next run. */
  CHECK_EQ(timeline_new(path, 1024, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define_span(tl, "engine", TIMELINE_INFO, "breath $n", NULL, &breath), TIMELINE_OK);
  CHECK_EQ(timeline_histogram_update(all), TIMELINE_OK);
  CHECK_EQ(timeline_histogram_reset(all), TIMELINE_OK);
  for (int n = 0; n < 7; n++) {
    timeline_log(tl, breath.begin, n, 0, 0, 0);
    timeline_log(tl, breath.end, n, 0, 0, 0);
  }
  CHECK_EQ(timeline_histogram_update(all), TIMELINE_OK);
  CHECK_EQ(timeline_histogram_count(all), 7);
  CHECK_EQ(timeline_histogram_missed(all), 0);
  goes_on_once(all);
  timeline_free(tl);
  timeline_histogram_free(all);
  timeline_histogram_free(every);
  puts("histogram: ok");
  return 0;
}
