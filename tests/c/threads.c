/* Threads define the same event and log to one timeline: no event is lost or comes twice, and the
 * threads and their names are told apart. threads DIR */
#define _GNU_SOURCE
#include <pthread.h>

#include <timeline.h>

#include "check.h"

enum { THREADS = 8, EVENTS = 2000, READERS = 2 };

static timeline_t *tl;
static pthread_barrier_t start;

static void *log_many(void *number) {
  const int64_t me = (int64_t)(intptr_t)number;
  char name[16];
  snprintf(name, sizeof name, "writer %" PRId64, me);
  CHECK_EQ(pthread_setname_np(pthread_self(), name), 0);
  pthread_barrier_wait(&start);
  uint32_t event = 0;
  CHECK_EQ(timeline_define(tl, "threads", TIMELINE_APP, "thread $number logs $count", &event), TIMELINE_OK);
  for (int64_t i = 0; i < EVENTS; i++) {
    if (timeline_enabled(tl, event)) timeline_log(tl, event, me, i, 0, 0);
  }
  return (void *)(intptr_t)event;
}

static void *read_all(void *attached) {
  timeline_cursor_t *cursor = NULL;
  CHECK_EQ(timeline_events(attached, TIMELINE_OLDEST_FIRST, &cursor), TIMELINE_OK);
  timeline_event_t event;
  int64_t next[THREADS] = {0};
  uint32_t tids[THREADS] = {0};
  uint64_t before = 0, total = 0;
  while (timeline_next(cursor, &event) == TIMELINE_OK) {
    const int64_t from = event.args[0];
    CHECK(from >= 0 && from < THREADS);
    CHECK_EQ(event.args[1], next[from]++);
    CHECK(event.ticks >= before);
    before = event.ticks;
    char name[16];
    snprintf(name, sizeof name, "writer %" PRId64, from);
    CHECK(strcmp(event.thread, name) == 0);
    if (tids[from]) CHECK_EQ(event.tid, tids[from]);
    tids[from] = event.tid;
    total++;
  }
  CHECK_EQ(total, THREADS * EVENTS);
  CHECK_EQ(timeline_missed(cursor), 0);
  for (int i = 0; i < THREADS; i++)
    for (int j = 0; j < i; j++) CHECK(tids[i] != tids[j]);
  timeline_cursor_free(cursor);
  return NULL;
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  char path[4096];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 65536, 0, &tl), TIMELINE_OK);
  CHECK_EQ(pthread_barrier_init(&start, NULL, THREADS), 0);
  pthread_t threads[THREADS], readers[READERS];
  for (intptr_t i = 0; i < THREADS; i++) CHECK_EQ(pthread_create(&threads[i], NULL, log_many, (void *)i), 0);
  void *first = NULL;
  for (int i = 0; i < THREADS; i++) {
    void *event = NULL;
    CHECK_EQ(pthread_join(threads[i], &event), 0);
    if (i == 0) first = event;
    CHECK(event != NULL && event == first);
  }
  timeline_attached_t *at = NULL;
  CHECK_EQ(timeline_attach(path, &at), TIMELINE_OK);
  for (int i = 0; i < READERS; i++) CHECK_EQ(pthread_create(&readers[i], NULL, read_all, at), 0);
  for (int i = 0; i < READERS; i++) CHECK_EQ(pthread_join(readers[i], NULL), 0);
  timeline_attached_free(at);
  timeline_free(tl);
  CHECK_EQ(timeline_unlink(path), TIMELINE_OK);
  puts("threads: ok");
  return 0;
}
