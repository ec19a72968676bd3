/* Prints all that an analysis tells, a line for each. analysis_told HOW EXTENT WANTED PATH...
 *
 * HOW: calls, steps or next. EXTENT: a number of timeline_analysis_open, or bytes, which are those of the standard
 * input. WANTED: all or some. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timeline-analysis.h>
#include <unistd.h>

#define DONE(call)                                                                   \
  do {                                                                               \
    timeline_status_t status_ = (call);                                              \
    if (status_ != TIMELINE_OK) {                                                    \
      printf("failed %d %s\n", (int)status_, timeline_analysis_last_error());        \
      exit(0);                                                                       \
    }                                                                                \
  } while (0)

static bool wants_all;
static timeline_analysis_field_t number;

static timeline_status_t subscribe(timeline_subscriptions_t *wanted) {
  uint32_t first = 9, second = 9;
  if (wants_all) {
    DONE(timeline_analysis_events(wanted, NULL, NULL, &first));
    second = 1;
  } else {
    DONE(timeline_analysis_events(wanted, "net", "net.*", &first));
    DONE(timeline_analysis_events(wanted, "*", "*.got", &second));
  }
  if (first != 0 || second != 1) return timeline_analysis_fail("subscriptions are numbered from 0 on");
  return timeline_analysis_field(wanted, "number", &number);
}

/* A number that is known of an event, or '?'. */
static void print_number(const timeline_analysis_event_t *event, uint32_t what) {
  uint64_t found = 0;
  const timeline_status_t status = timeline_analysis_number(event, what, &found);
  if (status == TIMELINE_END) {
    printf(" ?");
  } else {
    DONE(status);
    printf(" %llu", (unsigned long long)found);
  }
}

static void print_text(const timeline_analysis_event_t *event, uint32_t what) {
  const char *text = NULL;
  size_t size = 0;
  const timeline_status_t status = timeline_analysis_text(event, what, &text, &size);
  if (status == TIMELINE_END) {
    printf(" ?");
  } else {
    DONE(status);
    printf(" %s%s", text, strlen(text) == size ? "" : " of another size");
  }
}

static void print_event(const timeline_analysis_event_t *event) {
  printf("event");
  print_number(event, TIMELINE_ANALYSIS_LOG);
  print_number(event, TIMELINE_ANALYSIS_SUBSCRIPTION);
  print_text(event, TIMELINE_ANALYSIS_NAME);
  print_text(event, TIMELINE_ANALYSIS_CATEGORY);
  uint64_t found = 0;
  const timeline_status_t status = timeline_analysis_u64(event, number, &found);
  if (status == TIMELINE_END) printf(" ?");
  if (status == TIMELINE_OK) printf(" %llu", (unsigned long long)found);
  if (status == TIMELINE_E_ARGUMENT) printf(" (%s)", timeline_analysis_last_error());
  for (uint32_t what = TIMELINE_ANALYSIS_TIME; what <= TIMELINE_ANALYSIS_PID; what++) print_number(event, what);
  print_number(event, TIMELINE_ANALYSIS_IMPORTANT);
  for (uint32_t what = TIMELINE_ANALYSIS_THREAD; what <= TIMELINE_ANALYSIS_BOOT; what++) print_text(event, what);
  print_text(event, TIMELINE_ANALYSIS_MESSAGE);
  printf("\n");
}

static void print_gap(const timeline_analysis_gap_t *gap) {
  printf("gap %zu", gap->log);
  if (gap->knows_entries) printf(" %llu", (unsigned long long)gap->entries);
  if (!gap->knows_entries) printf(" ?");
  if (gap->knows_before) printf(" %llu", (unsigned long long)gap->before);
  if (!gap->knows_before) printf(" ?");
  printf("\n");
}

static void print_loss(const timeline_analysis_loss_t *loss) {
  printf("loss %zu %u", loss->log, loss->what);
  if (loss->knows_amount) printf(" %llu", (unsigned long long)loss->amount);
  if (!loss->knows_amount) printf(" ?");
  printf(" %s\n", loss->text);
}

static timeline_status_t begin(timeline_subscriptions_t *wanted, void *user) {
  (void)user;
  return subscribe(wanted);
}

static timeline_status_t event(const timeline_analysis_event_t *one, void *user) {
  (void)user;
  print_event(one);
  return TIMELINE_OK;
}

static timeline_status_t gap(const timeline_analysis_gap_t *one, void *user) {
  (void)user;
  print_gap(one);
  return TIMELINE_OK;
}

static timeline_status_t loss(const timeline_analysis_loss_t *one, void *user) {
  (void)user;
  print_loss(one);
  return TIMELINE_OK;
}

static timeline_status_t end(uint32_t how, void *user) {
  (void)user;
  printf("end %u\n", how);
  return TIMELINE_OK;
}

static void walk(timeline_analysis_t *analysis) {
  timeline_subscriptions_t *wanted = NULL;
  DONE(timeline_analysis_subscriptions(analysis, &wanted));
  DONE(subscribe(wanted));
  for (;;) {
    timeline_analysis_item_t item;
    DONE(timeline_analysis_next(analysis, 0, &item));
    if (item.kind == TIMELINE_ANALYSIS_EVENT) print_event(item.event);
    if (item.kind == TIMELINE_ANALYSIS_GAP) print_gap(&item.gap);
    if (item.kind == TIMELINE_ANALYSIS_LOSS) print_loss(&item.loss);
    if (item.kind == TIMELINE_ANALYSIS_WHOLE || item.kind == TIMELINE_ANALYSIS_CANCELLED) {
      printf("end %u\n", item.kind);
      return;
    }
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  const char *how = argv[1], *extent = argv[2];
  wants_all = strcmp(argv[3], "all") == 0;
  timeline_analysis_t *analysis = NULL;
  if (strcmp(extent, "bytes") == 0) {
    DONE(timeline_analysis_open_descriptor(0, &analysis));
    close(0);
  } else {
    DONE(timeline_analysis_open((const char *const *)(argv + 4), (size_t)argc - 4, (uint32_t)atoi(extent), &analysis));
  }
  if (strcmp(how, "next") == 0) {
    walk(analysis);
  } else {
    const timeline_analyzer_t analyzer = {NULL, begin, event, gap, loss, end};
    DONE(timeline_analysis_add(analysis, &analyzer));
    uint32_t outcome = TIMELINE_ANALYSIS_MORE;
    if (strcmp(how, "calls") == 0) DONE(timeline_analysis_run(analysis, &outcome));
    while (outcome < TIMELINE_ANALYSIS_WHOLE) {
      DONE(timeline_analysis_step(analysis, 0, &outcome));
      fflush(stdout);
    }
  }
  timeline_analysis_free(analysis);
  return 0;
}
