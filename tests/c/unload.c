/* A host closes the library while a thread that logged still runs, as LuaJIT does when it ends:
 * memory that the thread or the kernel uses must stay. unload DIR LIBRARY */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#define TIMELINE_NO_INLINE
#include <timeline.h>

static const char *(*last_error)(void);
#define timeline_last_error last_error
#include "check.h"

typedef void log_function(const timeline_t *, uint32_t, int64_t, int64_t, int64_t, int64_t);

static pthread_barrier_t step;
static log_function *log_event;
static timeline_t *tl;
static uint32_t event;

static timeline_status_t (*new_timeline)(const char *, uint64_t, uint64_t, timeline_t **);
static timeline_status_t (*define)(timeline_t *, const char *, int32_t, const char *, uint32_t *);
static char path[4096];

/* In a thread that is gone when the library is closed: otherwise the Rust thread-locals of the main
 * thread would also hold the library in memory. */
static void *make(void *unused) {
  CHECK_EQ(new_timeline(path, 256, 0, &tl), TIMELINE_OK);
  CHECK_EQ(define(tl, "unload", TIMELINE_INFO, "step $number", &event), TIMELINE_OK);
  return unused;
}

/* The kernel reads this when it next interrupts this thread: 0 unless a restartable sequence is
 * under way. */
static uint64_t sequence(void) {
  const ptrdiff_t *const offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
  uint64_t found = 0;
  if (offset) memcpy(&found, (char *)pthread_self() + *offset + 8, sizeof found);
  return found;
}

static volatile sig_atomic_t signals;

static void on_signal(int number) {
  (void)number;
  signals++;
}

/* Signals, and moves from CPU to CPU: at each, the kernel reads the words that the library has
 * left. */
static void be_interrupted(void) {
  cpu_set_t all, one;
  signal(SIGUSR1, on_signal);
  CHECK_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  for (int i = 0; i < 1000; i++) {
    const int cpu = i % CPU_SETSIZE;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (CPU_ISSET(cpu, &all)) CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
    sched_yield();
  }
  CHECK_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  CHECK_EQ(signals, 1000);
}

static void *log_and_stay(void *unused) {
  /* More than a chunk, so that one append refills. */
  for (int64_t i = 0; i < 100; i++) {
    log_event(tl, event, i, 0, 0, 0);
    CHECK_EQ(sequence(), 0);
  }
  log_event(tl, event, 1, 0, 0, 0);
  pthread_barrier_wait(&step); /* closed between these two */
  pthread_barrier_wait(&step);
  be_interrupted();
  log_event(tl, event, 2, 0, 0, 0);
  return unused; /* and the thread ends, with its state in the library */
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  return found;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  void *library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  /* POSIX turns an object pointer into a function pointer in this way. */
  *(void **)(void *)&last_error = symbol(library, "timeline_last_error");
  *(void **)(void *)&new_timeline = symbol(library, "timeline_new");
  *(void **)(void *)&define = symbol(library, "timeline_define");
  *(void **)(void *)&log_event = symbol(library, "timeline_log");

  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(pthread_barrier_init(&step, NULL, 2), 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, make, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, log_and_stay, NULL), 0);
  pthread_barrier_wait(&step);
  CHECK_EQ(dlclose(library), 0);
  pthread_barrier_wait(&step);
  CHECK_EQ(pthread_join(thread, NULL), 0);

  /* Still the same library, with its state. */
  void *again = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  CHECK(again != NULL);
  CHECK(symbol(again, "timeline_log") == *(void **)(void *)&log_event);
  puts("unload: ok");
  return 0;
}
