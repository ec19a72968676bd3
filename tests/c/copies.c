/* A host with the static library loads a plugin with its own copy of the library. Both write to one
 * timeline through lanes of threads: neither takes the other's. copies DIR PLUGIN */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include <timeline.h>

#include "check.h"
#include "format.h"

/* Events of each thread after its first: over 1,024, so that the thread without a lane asks
 * again. */
enum { EVENTS = 3000, MOST = 64 };

typedef void log_function(int64_t who, int64_t number);

typedef struct {
  pthread_t thread;
  log_function *log;
  int64_t who;
} writer_t;

static timeline_t *tl;
static uint32_t event;
static pthread_barrier_t first, go, done;

static void log_here(int64_t who, int64_t number) { timeline_log(tl, event, who, number, -number, 2 * number); }

static void *log_many(void *given) {
  const writer_t *const writer = given;
  writer->log(writer->who, 0);
  pthread_barrier_wait(&first);
  pthread_barrier_wait(&go);
  for (int64_t i = 1; i <= EVENTS; i++) writer->log(writer->who, i);
  pthread_barrier_wait(&done); /* none ends before all have logged: no lane comes free */
  return NULL;
}

/* Returns when the thread has logged its first event. */
static void start(writer_t *writer, log_function *log, int64_t who) {
  writer->log = log;
  writer->who = who;
  CHECK_EQ(pthread_create(&writer->thread, NULL, log_many, writer), 0);
  pthread_barrier_wait(&first);
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 3);
  char path[4096];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 256, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "copies", TIMELINE_INFO, "step $who $number $minus $twice", &event), TIMELINE_OK);
  const int file = open(path, O_RDONLY);
  const volatile header_t *const ring = mmap(NULL, sizeof *ring, PROT_READ, MAP_SHARED, file, 0);
  CHECK(ring != MAP_FAILED);
  const char *const all = mmap(NULL, ring->total_size, PROT_READ, MAP_SHARED, file, 0);
  CHECK(all != MAP_FAILED);
  const volatile lane_t *lanes = (const volatile lane_t *)(all + ring->regions[LANES].offset);
  lanes += ring->cpu_lanes;
  const unsigned count = ring->thread_lanes;
  CHECK(count < MOST);

  void *const plugin = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  /* POSIX turns an object pointer into a function pointer in this way. */
  const char *(*join)(const char *);
  *(void **)(void *)&join = dlsym(plugin, "plugin_join");
  log_function *log_there;
  *(void **)(void *)&log_there = dlsym(plugin, "plugin_log");
  const char *(*version)(void);
  *(void **)(void *)&version = dlsym(plugin, "plugin_version");
  CHECK(join && log_there && version);
  CHECK(version() != timeline_version()); /* two places, so two copies */
  const char *const failed = join(path);
  if (failed) {
    fprintf(stderr, "the plugin cannot join: %s\n", failed);
    return 1;
  }

  CHECK_EQ(pthread_barrier_init(&first, NULL, 2), 0);
  CHECK_EQ(pthread_barrier_init(&go, NULL, count + 2), 0);
  CHECK_EQ(pthread_barrier_init(&done, NULL, count + 1), 0);
  writer_t writers[MOST + 1];
  start(&writers[0], log_there, 0);
  unsigned its = count;
  for (unsigned i = 0; i < count; i++)
    if (lanes[i].owner) its = i;
  CHECK(its < count);
  const uint64_t owner = lanes[its].owner;

  /* One more than there are lanes. */
  for (unsigned i = 1; i <= count; i++) start(&writers[i], log_here, i);
  CHECK(lanes[its].owner == owner);
  CHECK_EQ(ring->dropped_no_lane, 1);
  pthread_barrier_wait(&go);
  for (unsigned i = 0; i <= count; i++) CHECK_EQ(pthread_join(writers[i].thread, NULL), 0);
  CHECK_EQ(ring->dropped_no_lane, 1 + EVENTS);
  for (unsigned i = 0; i < count; i++) CHECK_EQ(lanes[i].owner, 0);
  printf("%u %d\n", count, EVENTS);
  return 0;
}
