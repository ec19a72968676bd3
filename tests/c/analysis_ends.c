/* How an analysis ends: with enough, with a failure, cancelled, or by a mistake. analysis_ends DIR */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <timeline-analysis.h>
#include <unistd.h>

#include "check.h"

enum { MANY = 10000 };

static char ring[4096];
static const char *const paths[] = {ring};
static timeline_t *tl;
static uint32_t number_event;
static timeline_analysis_t *analysis;

#define CHECK_SAYS(call, status, mention)                                              \
  do {                                                                                 \
    CHECK_EQ(call, status);                                                            \
    if (!strstr(timeline_analysis_last_error(), mention)) {                            \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, timeline_analysis_last_error()); \
      exit(1);                                                                         \
    }                                                                                  \
  } while (0)

/* An analyser that counts, and ends as it was told. */
typedef struct {
  int begins, events, ends, last_end;
  int enough_at, fail_at, begin_status;
  void (*each)(void);
} counter_t;

static timeline_status_t begin(timeline_subscriptions_t *wanted, void *user) {
  counter_t *counter = user;
  counter->begins++;
  timeline_analysis_field_t field;
  CHECK_EQ(timeline_analysis_events(wanted, "test", "test.*", NULL), TIMELINE_OK);
  CHECK_SAYS(timeline_analysis_events(wanted, "test", NULL, NULL), TIMELINE_E_ARGUMENT, "name is NULL");
  CHECK_SAYS(timeline_analysis_events(wanted, NULL, "test.*", NULL), TIMELINE_E_ARGUMENT, "category is NULL");
  CHECK_SAYS(timeline_analysis_events(NULL, "test", "test.*", NULL), TIMELINE_E_ARGUMENT, "subscriptions is NULL");
  CHECK_SAYS(timeline_analysis_field(wanted, NULL, &field), TIMELINE_E_ARGUMENT, "name is NULL");
  CHECK_SAYS(timeline_analysis_field(wanted, "n", NULL), TIMELINE_E_ARGUMENT, "field is NULL");
  CHECK_SAYS(timeline_analysis_field(NULL, "n", &field), TIMELINE_E_ARGUMENT, "subscriptions is NULL");
  return counter->begin_status ? timeline_analysis_fail("nothing is wanted") : TIMELINE_OK;
}

static timeline_status_t event(const timeline_analysis_event_t *one, void *user) {
  counter_t *counter = user;
  CHECK(one != NULL);
  counter->events++;
  if (counter->each) counter->each();
  if (counter->events == counter->fail_at) return timeline_analysis_fail("the notebook is full");
  return counter->events == counter->enough_at ? TIMELINE_END : TIMELINE_OK;
}

static timeline_status_t end(uint32_t how, void *user) {
  counter_t *counter = user;
  counter->ends++;
  counter->last_end = (int)how;
  return TIMELINE_OK;
}

static void open_as(uint32_t extent) {
  analysis = NULL;
  CHECK_EQ(timeline_analysis_open(paths, 1, extent, &analysis), TIMELINE_OK);
  CHECK(analysis != NULL);
}

static void add(counter_t *counter) {
  const timeline_analyzer_t analyzer = {counter, begin, event, NULL, NULL, end};
  CHECK_EQ(timeline_analysis_add(analysis, &analyzer), TIMELINE_OK);
}

static void numbers(int count) {
  for (int number = 0; number < count; number++) timeline_log(tl, number_event, number, 0, 0, 0);
}

static void enough(void) {
  counter_t few = {.enough_at = 5}, all = {0};
  uint32_t how = 99;
  open_as(TIMELINE_ANALYSIS_HELD);
  add(&few);
  CHECK_EQ(few.begins, 0);
  CHECK_EQ(timeline_analysis_run(analysis, &how), TIMELINE_OK);
  CHECK(how == TIMELINE_ANALYSIS_ENOUGH && few.events == 5 && few.ends == 1 && few.last_end == (int)how);
  /* It stays so. */
  how = 99;
  CHECK_EQ(timeline_analysis_run(analysis, &how), TIMELINE_OK);
  CHECK(how == TIMELINE_ANALYSIS_ENOUGH && few.ends == 1);
  CHECK_EQ(timeline_analysis_step(analysis, 0, &how), TIMELINE_OK);
  CHECK(how == TIMELINE_ANALYSIS_ENOUGH && few.begins == 1);
  const timeline_analyzer_t late = {&all, begin, event, NULL, NULL, end};
  CHECK_SAYS(timeline_analysis_add(analysis, &late), TIMELINE_E_ARGUMENT, "has begun");
  timeline_analysis_free(analysis);

  /* Others go on. */
  few = (counter_t){.enough_at = 5};
  open_as(TIMELINE_ANALYSIS_HELD);
  add(&few);
  add(&all);
  CHECK_EQ(timeline_analysis_run(analysis, &how), TIMELINE_OK);
  CHECK(how == TIMELINE_ANALYSIS_WHOLE && few.events == 5 && all.events == MANY);
  CHECK(few.ends == 1 && all.ends == 1 && all.last_end == TIMELINE_ANALYSIS_WHOLE);
  timeline_analysis_free(analysis);
}

static timeline_status_t own_status(const timeline_analysis_event_t *one, void *user) {
  (void)one, (void)user;
  return 77;
}

static timeline_status_t wrong_type(const timeline_analysis_event_t *one, void *user) {
  bool truth;
  return timeline_analysis_bool(one, *(timeline_analysis_field_t *)user, &truth);
}

static timeline_status_t begin_with_field(timeline_subscriptions_t *wanted, void *user) {
  CHECK_EQ(timeline_analysis_events(wanted, "*", "*", NULL), TIMELINE_OK);
  return timeline_analysis_field(wanted, "n", user);
}

static void failures(void) {
  counter_t full = {.fail_at = 3}, other = {0};
  uint32_t how = 99;
  for (int is_step = 0; is_step < 2; is_step++) {
    full.events = other.events = 0;
    open_as(TIMELINE_ANALYSIS_HELD);
    add(&other);
    add(&full);
    const timeline_status_t status =
        is_step ? timeline_analysis_step(analysis, 0, &how) : timeline_analysis_run(analysis, &how);
    CHECK_SAYS(status, TIMELINE_E_ANALYZER, "the notebook is full");
    CHECK(strcmp(timeline_analysis_last_error(), "the notebook is full") == 0);
    CHECK(how == 99 && full.events == 3 && other.events == 3 && full.ends == 0 && other.ends == 0);
    CHECK_SAYS(timeline_analysis_run(analysis, &how), TIMELINE_E_ARGUMENT, "failed before");
    CHECK_SAYS(timeline_analysis_step(analysis, 0, &how), TIMELINE_E_ARGUMENT, "failed before");
    timeline_analysis_free(analysis);
  }

  timeline_analysis_field_t field;
  timeline_analyzer_t analyzer = {&field, begin_with_field, wrong_type, NULL, NULL, NULL};
  open_as(TIMELINE_ANALYSIS_HELD);
  CHECK_EQ(timeline_analysis_add(analysis, &analyzer), TIMELINE_OK);
  CHECK_SAYS(timeline_analysis_run(analysis, NULL), TIMELINE_E_ARGUMENT,
             "the field n of test.number is i64, and timeline_analysis_bool does not read that");
  timeline_analysis_free(analysis);

  analyzer.event = own_status;
  open_as(TIMELINE_ANALYSIS_HELD);
  CHECK_EQ(timeline_analysis_add(analysis, &analyzer), TIMELINE_OK);
  CHECK_EQ(timeline_analysis_run(analysis, NULL), 77);
  timeline_analysis_free(analysis);

  counter_t none = {.begin_status = 1};
  other = (counter_t){0};
  open_as(TIMELINE_ANALYSIS_HELD);
  add(&none);
  add(&other);
  CHECK_SAYS(timeline_analysis_run(analysis, &how), TIMELINE_E_ANALYZER, "nothing is wanted");
  CHECK(none.events == 0 && other.events == 0);
  timeline_analysis_free(analysis);
}

static void *first_failure_of_a_thread(void *unused) {
  (void)unused;
  timeline_analysis_field_t field;
  timeline_analyzer_t analyzer = {&field, begin_with_field, own_status, NULL, NULL, NULL};
  open_as(TIMELINE_ANALYSIS_HELD);
  CHECK_EQ(timeline_analysis_add(analysis, &analyzer), TIMELINE_OK);
  CHECK_SAYS(timeline_analysis_run(analysis, NULL), 77, "a callback returned 77: expected");
  timeline_analysis_free(analysis);
  return NULL;
}

static void steps(void) {
  counter_t all = {0};
  uint32_t how = TIMELINE_ANALYSIS_MORE;
  int steps = 0, before = 0;
  open_as(TIMELINE_ANALYSIS_HELD);
  add(&all);
  while (how == TIMELINE_ANALYSIS_MORE) {
    CHECK_EQ(timeline_analysis_step(analysis, 0, &how), TIMELINE_OK);
    CHECK(all.events - before <= 4096);
    before = all.events;
    steps++;
  }
  CHECK(steps > 2 && how == TIMELINE_ANALYSIS_WHOLE && all.events == MANY && all.ends == 1);
  timeline_analysis_free(analysis);

  /* With time for all, one call is enough; and a run goes on behind steps. */
  all = (counter_t){0};
  open_as(TIMELINE_ANALYSIS_HELD);
  add(&all);
  CHECK_EQ(timeline_analysis_step(analysis, UINT64_C(3600000000000), &how), TIMELINE_OK);
  CHECK(how == TIMELINE_ANALYSIS_WHOLE && all.events == MANY);
  timeline_analysis_free(analysis);

  all = (counter_t){0};
  open_as(TIMELINE_ANALYSIS_HELD);
  add(&all);
  CHECK_EQ(timeline_analysis_step(analysis, 0, &how), TIMELINE_OK);
  CHECK(how == TIMELINE_ANALYSIS_MORE && all.events < MANY);
  CHECK_EQ(timeline_analysis_run(analysis, &how), TIMELINE_OK);
  CHECK(how == TIMELINE_ANALYSIS_WHOLE && all.events == MANY && all.begins == 1 && all.ends == 1);
  timeline_analysis_free(analysis);

  /* Of a timeline that is followed. */
  all = (counter_t){0};
  open_as(TIMELINE_ANALYSIS_FROM_NOW);
  add(&all);
  CHECK_EQ(timeline_analysis_step(analysis, 0, &how), TIMELINE_OK);
  CHECK(how == TIMELINE_ANALYSIS_IDLE && all.events == 0);
  numbers(3);
  do CHECK_EQ(timeline_analysis_step(analysis, 0, &how), TIMELINE_OK);
  while (how == TIMELINE_ANALYSIS_MORE);
  CHECK(how == TIMELINE_ANALYSIS_IDLE && all.events == 3 && all.ends == 0);
  timeline_analysis_cancel(analysis);
  CHECK_EQ(timeline_analysis_step(analysis, 0, &how), TIMELINE_OK);
  CHECK(how == TIMELINE_ANALYSIS_CANCELLED && all.ends == 1);
  timeline_analysis_free(analysis);
}

static sem_t has_begun;

static void tell(void) { sem_post(&has_begun); }

static void *run(void *unused) {
  (void)unused;
  uint32_t how = 99;
  CHECK_EQ(timeline_analysis_run(analysis, &how), TIMELINE_OK);
  CHECK_EQ(how, TIMELINE_ANALYSIS_CANCELLED);
  return NULL;
}

static atomic_long waiting;

/* Whether a thread of this process sleeps. */
static bool sleeps(long tid) {
  char path[64], state = '?';
  snprintf(path, sizeof path, "/proc/self/task/%ld/stat", tid);
  FILE *file = fopen(path, "r");
  if (file) {
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = '?';
    fclose(file);
  }
  return state == 'S';
}

static void *wait_for_event(void *unused) {
  (void)unused;
  timeline_analysis_item_t item;
  waiting = syscall(SYS_gettid);
  CHECK_EQ(timeline_analysis_next(analysis, UINT64_C(3600000000000), &item), TIMELINE_OK);
  CHECK(item.kind == TIMELINE_ANALYSIS_EVENT && item.event != NULL);
  return NULL;
}

static void cancel_in_handler(int unused) {
  (void)unused;
  timeline_analysis_cancel(analysis);
}

static void raise_signal(void) { raise(SIGUSR1); }

static void cancellation(void) {
  /* From another thread, while it waits. */
  counter_t all = {.each = tell};
  pthread_t thread;
  uint32_t how = 99;
  CHECK_EQ(sem_init(&has_begun, 0, 0), 0);
  open_as(TIMELINE_ANALYSIS_FROM_OLDEST);
  add(&all);
  CHECK_EQ(pthread_create(&thread, NULL, run, NULL), 0);
  CHECK_EQ(sem_wait(&has_begun), 0);
  const timeline_status_t status = timeline_analysis_run(analysis, &how);
  CHECK(status == TIMELINE_E_BUSY && strstr(timeline_analysis_last_error(), "in use"));
  timeline_analysis_cancel(analysis);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK(all.events > 0 && all.ends == 1 && all.last_end == TIMELINE_ANALYSIS_CANCELLED);
  timeline_analysis_free(analysis);

  /* While it waits for bytes that do not come. */
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  all = (counter_t){0};
  CHECK_EQ(timeline_analysis_open_descriptor(ends[0], &analysis), TIMELINE_OK);
  add(&all);
  CHECK_EQ(timeline_analysis_step(analysis, 0, &how), TIMELINE_OK);
  CHECK_EQ(how, TIMELINE_ANALYSIS_IDLE);
  CHECK_EQ(pthread_create(&thread, NULL, run, NULL), 0);
  timeline_analysis_cancel(analysis);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK(all.events == 0 && all.ends == 1);
  timeline_analysis_free(analysis);
  close(ends[0]);
  close(ends[1]);

  /* In the handler of a signal. */
  all = (counter_t){.each = raise_signal};
  CHECK(signal(SIGUSR1, cancel_in_handler) != SIG_ERR);
  open_as(TIMELINE_ANALYSIS_HELD);
  add(&all);
  run(NULL);
  CHECK(all.events > 0 && all.events < MANY && all.ends == 1);
  timeline_analysis_free(analysis);

  /* Of a program that asks, also while it may wait. */
  timeline_subscriptions_t *wanted = NULL;
  timeline_analysis_item_t item;
  open_as(TIMELINE_ANALYSIS_FROM_NOW);
  CHECK_EQ(timeline_analysis_subscriptions(analysis, &wanted), TIMELINE_OK);
  CHECK_EQ(timeline_analysis_events(wanted, NULL, NULL, NULL), TIMELINE_OK);
  CHECK_EQ(timeline_analysis_next(analysis, 1, &item), TIMELINE_OK);
  CHECK(item.kind == TIMELINE_ANALYSIS_IDLE && item.event == NULL);
  CHECK_EQ(pthread_create(&thread, NULL, wait_for_event, NULL), 0);
  while (waiting == 0 || !sleeps(waiting)) sched_yield();
  numbers(1);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  timeline_analysis_cancel(analysis);
  for (int again = 0; again < 2; again++) {
    CHECK_EQ(timeline_analysis_next(analysis, UINT64_C(3600000000000), &item), TIMELINE_OK);
    CHECK(item.kind == TIMELINE_ANALYSIS_CANCELLED && item.event == NULL);
  }
  timeline_analysis_free(analysis);
}

static size_t least, most;

/* What is given of an event is forgotten with it. */
static timeline_status_t read_message(const timeline_analysis_event_t *one, void *user) {
  (void)user;
  const char *text;
  CHECK_EQ(timeline_analysis_text(one, TIMELINE_ANALYSIS_MESSAGE, &text, NULL), TIMELINE_OK);
  const size_t now = mallinfo2().uordblks;
  if (least == 0 || now < least) least = now;
  if (now > most) most = now;
  return TIMELINE_OK;
}

static void memory(void) {
  timeline_analysis_field_t field;
  timeline_analyzer_t analyzer = {&field, begin_with_field, read_message, NULL, NULL, NULL};
  open_as(TIMELINE_ANALYSIS_HELD);
  CHECK_EQ(timeline_analysis_add(analysis, &analyzer), TIMELINE_OK);
  CHECK_EQ(timeline_analysis_run(analysis, NULL), TIMELINE_OK);
  timeline_analysis_free(analysis);
  CHECK(least > 0 && most - least < 8 * MANY);
}

static int inside;

/* A callback asks nothing of its own analysis. */
static void call_back(void) {
  counter_t other = {0};
  timeline_analyzer_t analyzer = {&other, begin, event, NULL, NULL, end};
  timeline_analysis_item_t item;
  timeline_subscriptions_t *wanted;
  uint32_t how;
  CHECK_EQ(timeline_analysis_run(analysis, &how), TIMELINE_E_BUSY);
  CHECK_EQ(timeline_analysis_step(analysis, 0, &how), TIMELINE_E_BUSY);
  CHECK_EQ(timeline_analysis_next(analysis, 0, &item), TIMELINE_E_BUSY);
  CHECK_EQ(timeline_analysis_add(analysis, &analyzer), TIMELINE_E_BUSY);
  CHECK_EQ(timeline_analysis_subscriptions(analysis, &wanted), TIMELINE_E_BUSY);
  timeline_analysis_free(analysis);
  inside++;
}

static timeline_status_t null_event(const timeline_analysis_event_t *one, void *user) {
  timeline_analysis_field_t field = *(timeline_analysis_field_t *)user;
  uint64_t natural;
  int64_t integer;
  double number;
  bool truth;
  const char *text;
  timeline_event_value_t value;
  CHECK_SAYS(timeline_analysis_number(NULL, TIMELINE_ANALYSIS_TIME, &natural), TIMELINE_E_ARGUMENT, "event is NULL");
  CHECK_SAYS(timeline_analysis_number(one, TIMELINE_ANALYSIS_TIME, NULL), TIMELINE_E_ARGUMENT, "number is NULL");
  CHECK_SAYS(timeline_analysis_number(one, TIMELINE_ANALYSIS_NAME, &natural), TIMELINE_E_ARGUMENT, "no number 102");
  CHECK_SAYS(timeline_analysis_text(NULL, TIMELINE_ANALYSIS_NAME, &text, NULL), TIMELINE_E_ARGUMENT, "event is NULL");
  CHECK_SAYS(timeline_analysis_text(one, TIMELINE_ANALYSIS_NAME, NULL, NULL), TIMELINE_E_ARGUMENT, "text is NULL");
  CHECK_SAYS(timeline_analysis_text(one, TIMELINE_ANALYSIS_TIME, &text, NULL), TIMELINE_E_ARGUMENT, "no text 1");
#define NULLS(reader, place)                                                                              \
  CHECK_SAYS(timeline_analysis_##reader(NULL, field, place), TIMELINE_E_ARGUMENT, "event is NULL");       \
  CHECK_SAYS(timeline_analysis_##reader(one, field, NULL), TIMELINE_E_ARGUMENT, "value is NULL")
  NULLS(i64, &integer);
  NULLS(u64, &natural);
  NULLS(f64, &number);
  NULLS(bool, &truth);
  NULLS(value, &value);
  CHECK_SAYS(timeline_analysis_str(NULL, field, &text, NULL), TIMELINE_E_ARGUMENT, "event is NULL");
  CHECK_SAYS(timeline_analysis_str(one, field, NULL, NULL), TIMELINE_E_ARGUMENT, "value is NULL");
  CHECK_SAYS(timeline_analysis_label(NULL, field, &integer, NULL), TIMELINE_E_ARGUMENT, "event is NULL");
  CHECK_SAYS(timeline_analysis_label(one, field, NULL, NULL), TIMELINE_E_ARGUMENT, "value is NULL");
  CHECK_SAYS(timeline_analysis_array(NULL, field, TIMELINE_U8, &value), TIMELINE_E_ARGUMENT, "event is NULL");
  CHECK_SAYS(timeline_analysis_array(one, field, TIMELINE_U8, NULL), TIMELINE_E_ARGUMENT, "value is NULL");
  return TIMELINE_END;
}

static void misuse(void) {
  timeline_analysis_field_t field;
  timeline_analyzer_t analyzer = {&field, begin_with_field, null_event, NULL, NULL, NULL};
  timeline_subscriptions_t *wanted = NULL;
  timeline_analysis_item_t item;
  timeline_analysis_t *none = NULL;
  uint32_t how = 99;
  const char *const nothing[] = {NULL}, *const nowhere[] = {"/timeline-that-nobody-made"};
  CHECK_SAYS(timeline_analysis_open(NULL, 1, TIMELINE_ANALYSIS_HELD, &none), TIMELINE_E_ARGUMENT, "paths is NULL");
  CHECK_SAYS(timeline_analysis_open(paths, 0, TIMELINE_ANALYSIS_HELD, &none), TIMELINE_E_ARGUMENT, "count is 0");
  CHECK_SAYS(timeline_analysis_open(paths, 1, 3, &none), TIMELINE_E_ARGUMENT, "extent is 3");
  CHECK_SAYS(timeline_analysis_open(paths, 1, TIMELINE_ANALYSIS_HELD, NULL), TIMELINE_E_ARGUMENT, "out is NULL");
  CHECK_SAYS(timeline_analysis_open(nothing, 1, TIMELINE_ANALYSIS_HELD, &none), TIMELINE_E_ARGUMENT, "a path is NULL");
  CHECK_SAYS(timeline_analysis_open(nowhere, 1, TIMELINE_ANALYSIS_HELD, &none), TIMELINE_E_NOT_FOUND, "nobody-made");
  CHECK_SAYS(timeline_analysis_open_descriptor(-1, &none), TIMELINE_E_ARGUMENT, "the descriptor is -1");
  CHECK_SAYS(timeline_analysis_open_descriptor(1 << 20, &none), TIMELINE_E_IO, "cannot read the descriptor");
  CHECK_SAYS(timeline_analysis_open_descriptor(0, NULL), TIMELINE_E_ARGUMENT, "out is NULL");
  CHECK(none == NULL);
  CHECK_SAYS(timeline_analysis_add(NULL, &analyzer), TIMELINE_E_ARGUMENT, "the analysis is NULL");
  CHECK_SAYS(timeline_analysis_run(NULL, &how), TIMELINE_E_ARGUMENT, "the analysis is NULL");
  CHECK_SAYS(timeline_analysis_step(NULL, 0, &how), TIMELINE_E_ARGUMENT, "the analysis is NULL");
  CHECK_SAYS(timeline_analysis_subscriptions(NULL, &wanted), TIMELINE_E_ARGUMENT, "the analysis is NULL");
  CHECK_SAYS(timeline_analysis_next(NULL, 0, &item), TIMELINE_E_ARGUMENT, "the analysis is NULL");
  CHECK_SAYS(timeline_analysis_fail(NULL), TIMELINE_E_ARGUMENT, "reason is NULL");
  timeline_analysis_cancel(NULL);
  timeline_analysis_free(NULL);

  open_as(TIMELINE_ANALYSIS_HELD);
  CHECK_SAYS(timeline_analysis_add(analysis, NULL), TIMELINE_E_ARGUMENT, "the analyzer is NULL");
  analyzer.begin = NULL;
  CHECK_SAYS(timeline_analysis_add(analysis, &analyzer), TIMELINE_E_ARGUMENT, "begin of the analyzer is NULL");
  analyzer.begin = begin_with_field;
  analyzer.event = NULL;
  CHECK_SAYS(timeline_analysis_add(analysis, &analyzer), TIMELINE_E_ARGUMENT, "event of the analyzer is NULL");
  analyzer.event = null_event;
  CHECK_EQ(timeline_analysis_add(analysis, &analyzer), TIMELINE_OK);
  CHECK_SAYS(timeline_analysis_step(analysis, 0, NULL), TIMELINE_E_ARGUMENT, "outcome is NULL");
  CHECK_SAYS(timeline_analysis_subscriptions(analysis, &wanted), TIMELINE_E_ARGUMENT, "has analysers");
  CHECK_SAYS(timeline_analysis_next(analysis, 0, &item), TIMELINE_E_ARGUMENT, "has analysers");
  CHECK_EQ(timeline_analysis_run(analysis, &how), TIMELINE_OK);
  CHECK_EQ(how, TIMELINE_ANALYSIS_ENOUGH);
  CHECK_SAYS(timeline_analysis_next(analysis, 0, &item), TIMELINE_E_ARGUMENT, "has analysers");
  timeline_analysis_free(analysis);

  open_as(TIMELINE_ANALYSIS_HELD);
  CHECK_SAYS(timeline_analysis_next(analysis, 0, &item), TIMELINE_E_ARGUMENT, "nothing was subscribed to");
  CHECK_SAYS(timeline_analysis_subscriptions(analysis, NULL), TIMELINE_E_ARGUMENT, "out is NULL");
  CHECK_EQ(timeline_analysis_subscriptions(analysis, &wanted), TIMELINE_OK);
  CHECK_SAYS(timeline_analysis_add(analysis, &analyzer), TIMELINE_E_ARGUMENT, "asks this analysis");
  CHECK_SAYS(timeline_analysis_run(analysis, &how), TIMELINE_E_ARGUMENT, "asks this analysis");
  CHECK_SAYS(timeline_analysis_step(analysis, 0, &how), TIMELINE_E_ARGUMENT, "asks this analysis");
  CHECK_EQ(timeline_analysis_events(wanted, "test", "*", NULL), TIMELINE_OK);
  CHECK_SAYS(timeline_analysis_next(analysis, 0, NULL), TIMELINE_E_ARGUMENT, "item is NULL");
  CHECK_EQ(timeline_analysis_next(analysis, 0, &item), TIMELINE_OK);
  CHECK_EQ(item.kind, TIMELINE_ANALYSIS_EVENT);
  CHECK_SAYS(timeline_analysis_events(wanted, "test", "*", NULL), TIMELINE_E_ARGUMENT, "the first event");
  CHECK_SAYS(timeline_analysis_field(wanted, "n", &field), TIMELINE_E_ARGUMENT, "the first event");
  CHECK_SAYS(timeline_analysis_subscriptions(analysis, &wanted), TIMELINE_E_ARGUMENT, "the first event");
  timeline_analysis_free(analysis);

  counter_t busy = {.enough_at = 2, .each = call_back};
  open_as(TIMELINE_ANALYSIS_HELD);
  add(&busy);
  CHECK_EQ(timeline_analysis_run(analysis, &how), TIMELINE_OK);
  CHECK(how == TIMELINE_ANALYSIS_ENOUGH && inside == 2);
  timeline_analysis_free(analysis);

  /* Without analysers, nothing is read. */
  open_as(TIMELINE_ANALYSIS_FROM_NOW);
  CHECK_EQ(timeline_analysis_run(analysis, &how), TIMELINE_OK);
  CHECK_EQ(how, TIMELINE_ANALYSIS_ENOUGH);
  timeline_analysis_free(analysis);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  snprintf(ring, sizeof ring, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(ring, 32768, 16384, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "test", TIMELINE_INFO, "number $n", &number_event), TIMELINE_OK);
  numbers(MANY);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, first_failure_of_a_thread, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  enough();
  failures();
  misuse();
  memory();
  steps();
  /* Behind all that count the events. */
  cancellation();
  puts("ends: ok");
  timeline_free(tl);
  return 0;
}
