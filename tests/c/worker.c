/* A program that records itself, in the ways that its second argument says. */
#define _GNU_SOURCE
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <timeline-worker.h>
#include <unistd.h>

#define LONG UINT64_C(60000000000)

static timeline_t *tl;
static uint32_t event;
static char ring[4096], file[4096];

static void numbers(int from, int to) {
  for (int number = from; number < to; number++) timeline_log(tl, event, number, 0, 0, 0);
}

static timeline_worker_t *start(bool without_thread) {
  timeline_worker_options_t options = {0};
  timeline_worker_t *worker = NULL;
  options.file = file;
  options.without_thread = without_thread;
  CHECK(timeline_worker_start(tl, &options, &worker) == TIMELINE_OK);
  CHECK(worker != NULL);
  return worker;
}

static uint64_t events(timeline_worker_t *worker) {
  timeline_worker_totals_t totals = {0};
  CHECK(timeline_worker_totals(worker, &totals) == TIMELINE_OK);
  CHECK(totals.missed == 0 && totals.overwritten == 0);
  return totals.events;
}

/* The child has the right to none of this, and its events are recorded. */
static void fork_with(timeline_worker_t *worker, int from, int to) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    timeline_worker_totals_t totals = {0};
    char text[8] = "x";
    CHECK(timeline_worker_update(worker, LONG) == TIMELINE_E_ARGUMENT);
    CHECK(timeline_worker_flush(worker, LONG) == TIMELINE_E_ARGUMENT);
    CHECK(timeline_worker_totals(worker, &totals) == TIMELINE_E_ARGUMENT);
    CHECK(timeline_worker_trouble(worker, text, sizeof text) == TIMELINE_E_ARGUMENT);
    CHECK(strstr(timeline_worker_last_error(), "which forked this one") != NULL);
    numbers(from, to);
    /* At exit, it leaves the worker alone; so it does if it stops it. */
    if (from % 2) CHECK(timeline_worker_stop(worker, &totals) == TIMELINE_E_ARGUMENT);
    exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void record(bool without_thread) {
  timeline_worker_totals_t totals = {0};
  char text[64] = "x";
  numbers(0, 100);
  timeline_worker_t *worker = start(without_thread);
  numbers(100, 200);
  CHECK(timeline_worker_flush(worker, LONG) == TIMELINE_OK);
  CHECK(events(worker) == 200);
  fork_with(worker, 200, 300);
  fork_with(worker, 301, 400);
  numbers(300, 301);
  CHECK(timeline_worker_update(worker, LONG) == TIMELINE_OK);
  CHECK(!without_thread || events(worker) == 400);
  CHECK(timeline_worker_trouble(worker, text, sizeof text) == TIMELINE_END && text[0] == 0);
  timeline_worker_t *second = NULL;
  timeline_worker_options_t options = {0};
  options.file = file;
  CHECK(timeline_worker_start(tl, &options, &second) == TIMELINE_E_BUSY && second == NULL);
  CHECK(strstr(timeline_worker_last_error(), "another recorder") != NULL);
  CHECK(timeline_worker_stop(worker, &totals) == TIMELINE_OK);
  CHECK(totals.events == 400 && totals.missed == 0 && totals.left == 0 && totals.bytes > 0);
}

static void misuse(void) {
  timeline_worker_options_t options = {0};
  timeline_worker_t *worker = NULL;
  timeline_worker_totals_t totals = {0};
  char text[2] = "x";
  options.file = file;
  CHECK(timeline_worker_start(NULL, &options, &worker) == TIMELINE_E_ARGUMENT);
  CHECK(timeline_worker_start(tl, &options, NULL) == TIMELINE_E_ARGUMENT);
  options.store = "db1";
  CHECK(timeline_worker_start(tl, &options, &worker) == TIMELINE_E_ARGUMENT);
  CHECK(strstr(timeline_worker_last_error(), "a file and a store") != NULL);
  options.file = NULL;
  options.labels = "service";
  CHECK(timeline_worker_start(tl, &options, &worker) == TIMELINE_E_ARGUMENT);
  options.labels = NULL;
  options.acknowledge = 3;
  CHECK(timeline_worker_start(tl, &options, &worker) == TIMELINE_E_ARGUMENT);
  options.acknowledge = TIMELINE_WORKER_WRITTEN;
  options.store = "a/b";
  CHECK(timeline_worker_start(tl, &options, &worker) == TIMELINE_E_ARGUMENT);
  options.store = NULL;
  options.file = "";
  CHECK(timeline_worker_start(tl, &options, &worker) == TIMELINE_E_ARGUMENT);
  options.file = ring;
  CHECK(timeline_worker_start(tl, &options, &worker) == TIMELINE_E_ARGUMENT);
  CHECK(strstr(timeline_worker_last_error(), "something other than a recording") != NULL);
  options.file = file;
  options.rotate_size = 1;
  CHECK(timeline_worker_start(tl, &options, &worker) == TIMELINE_E_ARGUMENT);
  CHECK(worker == NULL);
  /* A program may ignore that it is not recorded. */
  CHECK(timeline_worker_update(NULL, LONG) == TIMELINE_OK);
  CHECK(timeline_worker_flush(NULL, LONG) == TIMELINE_OK);
  CHECK(timeline_worker_trouble(NULL, text, 1) == TIMELINE_END && text[0] == 0);
  CHECK(timeline_worker_trouble(NULL, text, 0) == TIMELINE_E_ARGUMENT);
  CHECK(timeline_worker_trouble(NULL, NULL, 1) == TIMELINE_E_ARGUMENT);
  CHECK(timeline_worker_totals(NULL, &totals) == TIMELINE_OK && totals.events == 0);
  CHECK(timeline_worker_totals(NULL, NULL) == TIMELINE_E_ARGUMENT);
  CHECK(timeline_worker_stop(NULL, &totals) == TIMELINE_OK);
  /* Each worker has a file of its own, and there are 64 at most. */
  timeline_worker_t *workers[64] = {0};
  char own[4200];
  for (int number = 0; number <= 64; number++) {
    snprintf(own, sizeof own, "%s.%d", file, number);
    options = (timeline_worker_options_t){0};
    options.file = own;
    options.without_thread = true;
    int32_t status = timeline_worker_start(tl, &options, number < 64 ? &workers[number] : &worker);
    CHECK(status == (number < 64 ? TIMELINE_OK : TIMELINE_E_FULL));
  }
  for (int number = 0; number < 64; number++) CHECK(timeline_worker_stop(workers[number], NULL) == TIMELINE_OK);
  worker = start(false);
  numbers(0, 400);
  CHECK(timeline_worker_stop(worker, NULL) == TIMELINE_OK);
}

static void options(void) {
  timeline_worker_options_t options = {0};
  CHECK(timeline_worker_option(&options, "-trace=net") == TIMELINE_END);
  CHECK(timeline_worker_option(&options, "-tracefile=") == TIMELINE_E_ARGUMENT);
  CHECK(timeline_worker_option(&options, NULL) == TIMELINE_E_ARGUMENT);
  CHECK(timeline_worker_option(NULL, "-tracefile=x") == TIMELINE_E_ARGUMENT);
  CHECK(options.file == NULL && options.store == NULL);
  CHECK(timeline_worker_option(&options, "--tracehost=db1") == TIMELINE_OK);
  CHECK(options.file == NULL && strcmp(options.store, "db1") == 0);
  CHECK(timeline_worker_option(&options, "-tracehost=a/b") == TIMELINE_E_ARGUMENT);
  char argument[4200];
  snprintf(argument, sizeof argument, "-tracefile=%s", file);
  CHECK(timeline_worker_option(&options, argument) == TIMELINE_OK);
  CHECK(options.store == NULL && options.file == argument + strlen("-tracefile="));
  timeline_worker_t *worker = NULL;
  CHECK(timeline_worker_start(tl, &options, &worker) == TIMELINE_OK);
  numbers(0, 400);
  CHECK(timeline_worker_stop(worker, NULL) == TIMELINE_OK);
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  snprintf(ring, sizeof ring, "%s/ring", argv[1]);
  snprintf(file, sizeof file, "%s/flight.tla", argv[1]);
  CHECK(timeline_new(ring, 16384, 16384, &tl) == TIMELINE_OK);
  CHECK(timeline_define(tl, "test", TIMELINE_INFO, "number $n", &event) == TIMELINE_OK);
  const char *how = argv[2];
  timeline_worker_t *worker = NULL;
  if (strcmp(how, "thread") == 0) record(false);
  if (strcmp(how, "pump") == 0) record(true);
  if (strcmp(how, "misuse") == 0) misuse();
  if (strcmp(how, "options") == 0) options();
  if (strcmp(how, "environment") == 0) {
    CHECK(timeline_worker_start(tl, NULL, &worker) == TIMELINE_OK);
    numbers(0, 400);
  }
  if (strcmp(how, "nobody") == 0) {
    worker = (timeline_worker_t *)&worker;
    CHECK(timeline_worker_start(tl, NULL, &worker) == TIMELINE_END && worker == NULL);
  }
  if (strcmp(how, "exit") == 0 || strcmp(how, "exit-pump") == 0) {
    worker = start(strcmp(how, "exit-pump") == 0);
    numbers(0, 400);
    /* Its handle is gone, and the ring is not. */
    timeline_free(tl);
  }
  puts("worker: ok");
  fflush(stdout);
  return 0;
}
