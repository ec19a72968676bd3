/* Threads log while their timeline is freed, and count what they log. closed DIR */
#include <pthread.h>
#include <sched.h>

#include <timeline.h>

#include "check.h"

enum { THREADS = 4, SOME = 1000 };

static timeline_t *tl;
static uint32_t event;
static int stop;
static unsigned long long logged[THREADS];

static void *log_all_the_time(void *number) {
  unsigned long long *const mine = &logged[(intptr_t)number];
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    timeline_log(tl, event, 1, 2, 3, 4);
    __atomic_fetch_add(mine, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

static void let_each_log_some_more(void) {
  for (int i = 0; i < THREADS; i++) {
    const unsigned long long before = __atomic_load_n(&logged[i], __ATOMIC_RELAXED);
    while (__atomic_load_n(&logged[i], __ATOMIC_RELAXED) < before + SOME) sched_yield();
  }
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  char path[4096];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 1 << 12, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "closed", TIMELINE_INFO, "logged $n", &event), TIMELINE_OK);
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; i++) CHECK_EQ(pthread_create(&threads[i], NULL, log_all_the_time, (void *)i), 0);
  let_each_log_some_more();
  timeline_free(tl);
  let_each_log_some_more();
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  unsigned long long all = 0;
  for (int i = 0; i < THREADS; i++) {
    CHECK_EQ(pthread_join(threads[i], NULL), 0);
    all += logged[i];
  }
  printf("closed: %llu\n", all);
  return 0;
}
