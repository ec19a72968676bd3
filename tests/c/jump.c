/* Threads whose handler jumps out of their first event, as a host's error handling may: their later
 * events are written or counted, and their lanes are free after their end. For x86-64. jump DIR */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include <timeline.h>

#include "check.h"
#include "format.h"

/* More threads than the ring has lanes for threads. */
enum { TRAP = 0x100, MANY = 10, AFTER = 3 };

static timeline_t *tl;
static uint32_t event;
static const volatile header_t *ring;
static const volatile lane_t *lanes;
static const volatile thread_t *threads;

/* The place that the handler waits for. */
enum place { ABOUT_TO_JOIN, COMMITTED };
static enum place place;
static uint64_t before;
static sigjmp_buf out;
static volatile sig_atomic_t jumped;

/* This changes at the place: by one, or, if a lane gets a fresh chunk, by more. */
static uint64_t mark(void) {
  uint64_t sum = place == ABOUT_TO_JOIN ? ring->thread_serial : 0;
  if (place == COMMITTED)
    for (unsigned i = 0; i < ring->cpu_lanes + ring->thread_lanes; i++) sum += lanes[i].cursor;
  return sum;
}

/* After each instruction, until it jumps. */
static void on_step(int number) {
  (void)number;
  const uint64_t now = mark();
  const int there = place == COMMITTED ? now == before + 1 : now != before;
  before = now;
  if (!there) return;
  jumped = 1;
  siglongjmp(out, 1);
}

static void set_trap(int on) {
  const unsigned long long flags = __builtin_ia32_readeflags_u64();
  __builtin_ia32_writeeflags_u64(on ? flags | TRAP : flags & ~(unsigned long long)TRAP);
}

static void *log_some(void *who) {
  const int64_t me = (int64_t)(intptr_t)who;
  before = mark();
  jumped = 0;
  if (!sigsetjmp(out, 1)) {
    set_trap(1);
    timeline_log(tl, event, me, 0, 0, 0);
    set_trap(0);
  }
  CHECK(jumped);
  for (int64_t i = 1; i <= AFTER; i++) timeline_log(tl, event, me, i, 0, 0);
  return NULL;
}

static void *log_once(void *who) {
  CHECK_EQ(pthread_setname_np(pthread_self(), "after"), 0);
  timeline_log(tl, event, (int64_t)(intptr_t)who, 0, 0, 0);
  return NULL;
}

static void run(void *(*f)(void *), intptr_t who) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, f, (void *)who), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  for (unsigned i = 0; i < ring->threads; i++) CHECK_EQ(threads[i].live, 0);
  for (unsigned i = 0; i < ring->cpu_lanes + ring->thread_lanes; i++) CHECK_EQ(lanes[i].owner, 0);
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  char path[4096];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 256, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "jump", TIMELINE_INFO, "step $who $number", &event), TIMELINE_OK);
  const int file = open(path, O_RDONLY);
  ring = mmap(NULL, sizeof *ring, PROT_READ, MAP_SHARED, file, 0);
  CHECK(ring != MAP_FAILED);
  const char *const all = mmap(NULL, ring->total_size, PROT_READ, MAP_SHARED, file, 0);
  CHECK(all != MAP_FAILED);
  lanes = (const volatile lane_t *)(all + ring->regions[LANES].offset);
  threads = (const volatile thread_t *)(all + ring->regions[THREADS].offset);
  CHECK(ring->thread_lanes < MANY);
  CHECK(signal(SIGTRAP, on_step) != SIG_ERR);

  /* The thread is marked as joining and has nothing yet: its later events are dropped. */
  place = ABOUT_TO_JOIN;
  for (intptr_t i = 1; i <= MANY; i++) {
    run(log_some, i);
    CHECK_EQ(ring->dropped_interrupted, i * AFTER);
  }
  /* It has all it needs, and the event is written. */
  place = COMMITTED;
  for (intptr_t i = 1; i <= MANY; i++) run(log_some, MANY + i);
  run(log_once, 0);
  puts("jump: ok");
  return 0;
}
