/* What a statement has met it knows for good: later runs allocate nothing, also in the handler of a signal that
 * interrupts the allocator. Also C++. known DIR */
#ifndef _GNU_SOURCE /* C++ has it already */
#define _GNU_SOURCE
#endif
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <timeline.h>

#include "check.h"

/* ---- The allocator counts, and may be interrupted --------------------------------------------------------- */

static volatile sig_atomic_t inside, interrupts;
static unsigned long allocations;

#ifdef __cplusplus
extern "C" {
#endif
extern void *__libc_malloc(size_t size);
void *malloc(size_t size) {
  if (inside) abort(); /* A handler would wait for its own thread. */
  __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
  if (interrupts) {
    inside = 1;
    raise(SIGUSR1);
    inside = 0;
  }
  return __libc_malloc(size);
}
#ifdef __cplusplus
}
#endif

static unsigned long count(void) { return __atomic_load_n(&allocations, __ATOMIC_RELAXED); }

/* ---- One statement of each kind --------------------------------------------------------------------------- */

static void say(timeline_t *tl, int32_t level, int number) {
  TIMELINE_PRINTF(tl, level, "number %d of %s", number, "all");
  TIMELINE_EVENT(tl, level, "known", "number $n of $all", number, "all");
  TIMELINE_SPAN(tl, level, "known", "span $n", number);
}
/* The events of one call. */
enum { EVENTS = 4, MOST = 64 };

static char path[4096], other[4200];
static timeline_t *all[MOST];

static timeline_t *make(const char *at) {
  timeline_t *tl = NULL;
  CHECK_EQ(timeline_new(at, 1 << 12, 0, &tl), TIMELINE_OK);
  return tl;
}

static void say_all(int many) {
  for (int i = 0; i < many; i++)
    for (int32_t level = TIMELINE_ERROR; level <= TIMELINE_LIBRARY; level++) say(all[i], level, i);
}

static int handled;
static void handler(int signal) {
  (void)signal;
  handled++;
  say_all(handled % 8 ? 3 : MOST);
}

/* How many events there are, each of the level and with the number of its call. */
static int look(const char *at) {
  timeline_attached_t *attached = NULL;
  timeline_cursor_t *cursor = NULL;
  timeline_event_t event;
  char text[256];
  int found = 0;
  CHECK_EQ(timeline_attach(at, &attached), TIMELINE_OK);
  CHECK_EQ(timeline_events(attached, TIMELINE_OLDEST_FIRST, &cursor), TIMELINE_OK);
  for (; timeline_next(cursor, &event) == TIMELINE_OK; found++) {
    CHECK_EQ(timeline_render(&event, text, sizeof text, NULL), TIMELINE_OK);
    CHECK_EQ(event.priority, found / EVENTS % TIMELINE_LIBRARY + 1);
    CHECK(strstr(text, found % EVENTS < 2 ? "number" : found % EVENTS == 2 ? "begin span" : "end span") != NULL);
  }
  timeline_cursor_free(cursor);
  timeline_attached_free(attached);
  return found;
}

/* Two timelines that are next to one another, at two levels: what this was found with. */
static void two(void) {
  all[0] = make(path), all[1] = make(other);
  unsigned long before = 0;
  for (int i = 0; i < 1000; i++) {
    if (i == 1) before = count();
    for (int32_t level = TIMELINE_WARNING; level <= TIMELINE_INFO; level++)
      for (int tl = 0; tl < 2; tl++) say(all[tl], level, i);
  }
  CHECK_EQ(count(), before);
  for (int i = 0; i < 2; i++) timeline_free(all[i]);
  CHECK_EQ(timeline_unlink(path), TIMELINE_OK);
  CHECK_EQ(timeline_unlink(other), TIMELINE_OK);
}

/* As many as a process may have, at all levels, in handlers too. */
static void as_many_as_there_may_be(void) {
  all[0] = make(path), all[1] = make(other);
  for (int i = 2; i < MOST; i++) CHECK_EQ(timeline_open(i % 2 ? other : path, &all[i]), TIMELINE_OK);
  say_all(MOST);
  CHECK_EQ(look(path), MOST / 2 * EVENTS * TIMELINE_LIBRARY);
  const unsigned long before = count();
  say_all(MOST);
  CHECK_EQ(count(), before);
  CHECK_EQ(look(path), MOST * EVENTS * TIMELINE_LIBRARY);
  /* Definitions of others are interrupted while they allocate. */
  CHECK(signal(SIGUSR1, handler) != SIG_ERR);
  interrupts = 1;
  for (int i = 0; i < 3; i++) TIMELINE_PRINTF(all[i], TIMELINE_INFO, "met while %s log", "handlers");
  interrupts = 0;
  CHECK(handled > 0);
  /* A child knows all that its parent has met. */
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    inside = 1;
    say_all(MOST);
    inside = 0;
    _exit(0);
  }
  int status = 1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  for (int i = 0; i < MOST; i++) timeline_free(all[i]);
  CHECK_EQ(timeline_unlink(path), TIMELINE_OK);
  CHECK_EQ(timeline_unlink(other), TIMELINE_OK);
}

/* Timelines that come and go leave no memory behind, and take nothing from one that stays. */
static void again_and_again(void) {
  /* Freed handles keep their indices for a while: it takes long until all places of the trees were met. */
  enum { TIMES = 800, EARLY = 600 };
  all[0] = make(path);
  size_t early = 0;
  for (int i = 0; i < TIMES; i++) {
    CHECK_EQ(timeline_open(path, &all[1]), TIMELINE_OK);
    CHECK_EQ(timeline_open(path, &all[2]), TIMELINE_OK);
    say(all[0], TIMELINE_WARNING, i);
    say(all[2], TIMELINE_INFO, i);
    say(all[1], TIMELINE_LIBRARY, i);
    const unsigned long before = count();
    for (int round = 0; round < 3; round++) {
      say(all[0], TIMELINE_WARNING, i);
      say(all[1], TIMELINE_LIBRARY, i);
      say(all[2], TIMELINE_INFO, i);
    }
    CHECK_EQ(count(), before);
    timeline_free(all[1 + i % 2]);
    timeline_free(all[2 - i % 2]);
    if (i == EARLY) early = mallinfo2().uordblks;
  }
  /* Less than 32 bytes for each. */
  CHECK(mallinfo2().uordblks < early + 16384);
  timeline_free(all[0]);
  CHECK_EQ(timeline_unlink(path), TIMELINE_OK);
}

/* Threads that meet everything at once. */
static pthread_barrier_t barrier;

static void *work(void *unused) {
  (void)unused;
  pthread_barrier_wait(&barrier);
  say_all(8);
  /* Another thread may still define what this one already knows. */
  pthread_barrier_wait(&barrier);
  const unsigned long before = count();
  pthread_barrier_wait(&barrier);
  say_all(8);
  pthread_barrier_wait(&barrier);
  CHECK_EQ(count(), before);
  return NULL;
}

static void threads(void) {
  enum { THREADS = 4, ROUNDS = 30 };
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, THREADS), 0);
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t ids[THREADS];
    all[0] = make(path);
    for (int i = 1; i < 8; i++) CHECK_EQ(timeline_open(path, &all[i]), TIMELINE_OK);
    for (int i = 0; i < THREADS; i++) CHECK_EQ(pthread_create(&ids[i], NULL, work, NULL), 0);
    for (int i = 0; i < THREADS; i++) CHECK_EQ(pthread_join(ids[i], NULL), 0);
    for (int i = 0; i < 8; i++) timeline_free(all[i]);
    CHECK_EQ(timeline_unlink(path), TIMELINE_OK);
  }
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  snprintf(path, sizeof path, "%.4000s/ring", argv[1]);
  snprintf(other, sizeof other, "%s-2", path);
  two();
  as_many_as_there_may_be();
  again_and_again();
  threads();
  puts("known: ok");
  return 0;
}
