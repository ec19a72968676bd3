/* A thread without a lane drops its events at the price of a count, without holding off
 * cancellation. To be run without restartable sequences. laneless DIR */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include <timeline.h>

#include "check.h"
#include "format.h"

/* One event in so many looks for a lane again. */
enum { AGAIN = 1024, MOST = 64 };

static int (*set_state)(int, int *);
static _Thread_local unsigned long calls;

/* Replaces the function of the C library for this program and its libraries. */
int pthread_setcancelstate(int state, int *before) {
  calls++;
  return set_state(state, before);
}

static timeline_t *tl;
static uint32_t event;
static pthread_barrier_t full, end;

static void *hold_a_lane(void *number) {
  timeline_log(tl, event, (int64_t)(intptr_t)number, 0, 0, 0);
  pthread_barrier_wait(&full);
  pthread_barrier_wait(&end);
  return NULL;
}

/* How often the call used pthread_setcancelstate. */
static unsigned long log_many(unsigned events) {
  const unsigned long before = calls;
  for (unsigned i = 0; i < events; i++) timeline_log(tl, event, -1, 0, 0, 0);
  return calls - before;
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  *(void **)(void *)&set_state = dlsym(RTLD_NEXT, "pthread_setcancelstate");
  CHECK(set_state != NULL);
  char path[4096];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 256, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "laneless", TIMELINE_INFO, "by $who", &event), TIMELINE_OK);
  CHECK(calls > 0); /* the counting works */
  const int file = open(path, O_RDONLY);
  const volatile header_t *const ring = mmap(NULL, sizeof *ring, PROT_READ, MAP_SHARED, file, 0);
  CHECK(ring != MAP_FAILED);
  const unsigned lanes = ring->thread_lanes;
  CHECK(lanes <= MOST);

  CHECK_EQ(pthread_barrier_init(&full, NULL, lanes + 1), 0);
  CHECK_EQ(pthread_barrier_init(&end, NULL, lanes + 1), 0);
  pthread_t threads[MOST];
  for (unsigned i = 0; i < lanes; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, hold_a_lane, (void *)(intptr_t)i), 0);
  pthread_barrier_wait(&full);
  CHECK_EQ(ring->dropped_no_lane, 0);

  /* Off and on again, once, when the thread looks for a lane. */
  CHECK_EQ(log_many(1), 2);
  CHECK_EQ(log_many(AGAIN - 1), 0);
  CHECK_EQ(ring->dropped_no_lane, AGAIN);
  CHECK_EQ(log_many(1), 2);
  CHECK_EQ(log_many(AGAIN - 1), 0);
  CHECK_EQ(ring->dropped_no_lane, 2 * AGAIN);

  pthread_barrier_wait(&end);
  for (unsigned i = 0; i < lanes; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  /* There are lanes now, and this event looks for one. */
  CHECK_EQ(log_many(1), 2);
  CHECK_EQ(log_many(1000), 0);
  CHECK_EQ(ring->dropped_no_lane, 2 * AGAIN);
  timeline_free(tl);
  puts("laneless: ok");
  return 0;
}
