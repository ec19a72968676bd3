/* Pairs allocations with frees, on whatever threads they are: an analysis.
 *
 *   allocations PATH...
 *
 * Reads timelines, snapshots or archives whose programs log `alloc $size:u64 at $address:ptr` and
 * `free $address:ptr` in the category `mem`. Without a PATH it makes such a timeline: one thread
 * allocates, and another one frees.
 *
 * An address is used again and again, so this needs the order of events over all threads.
 *
 * Build: cc -pthread allocations.c $(pkg-config --cflags --libs timeline-analysis)
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timeline-analysis.h>
#include <unistd.h>

/* An allocation that is not free yet. */
typedef struct block {
  struct block *next;
  uint64_t pid, address, size, since, tid;
  bool knows_since, knows_tid;
} block_t;

enum { BUCKETS = 1 << 16 };

/* Pairs the allocations of all processes with their frees. */
typedef struct {
  uint32_t alloc; /* the subscription */
  timeline_analysis_field_t size, address;
  block_t *open[BUCKETS]; /* by process and address */
  uint64_t pairs, elsewhere, bytes, longest, unknown;
} allocations_t;

static block_t **place_of(allocations_t *my, uint64_t pid, uint64_t address) {
  const uint64_t hash = (address + pid * 31) * UINT64_C(0x9e3779b97f4a7c15);
  block_t **place = &my->open[hash >> 48];
  while (*place && ((*place)->pid != pid || (*place)->address != address)) place = &(*place)->next;
  return place;
}

static timeline_status_t begin(timeline_subscriptions_t *wanted, void *user) {
  allocations_t *my = user;
  timeline_status_t status = timeline_analysis_events(wanted, "mem", "mem.alloc", &my->alloc);
  if (status == TIMELINE_OK) status = timeline_analysis_events(wanted, "mem", "mem.free", NULL);
  if (status == TIMELINE_OK) status = timeline_analysis_field(wanted, "size", &my->size);
  if (status == TIMELINE_OK) status = timeline_analysis_field(wanted, "address", &my->address);
  return status;
}

/* What is known of the place in time and threads. A pid that is not known is 0. */
static block_t now(const timeline_analysis_event_t *event, uint64_t address) {
  block_t block = {0};
  block.address = address;
  timeline_analysis_number(event, TIMELINE_ANALYSIS_PID, &block.pid);
  block.knows_since = timeline_analysis_number(event, TIMELINE_ANALYSIS_TIME, &block.since) == TIMELINE_OK;
  block.knows_tid = timeline_analysis_number(event, TIMELINE_ANALYSIS_TID, &block.tid) == TIMELINE_OK;
  return block;
}

static timeline_status_t allocated(allocations_t *my, const timeline_analysis_event_t *event, block_t block) {
  const timeline_status_t status = timeline_analysis_u64(event, my->size, &block.size);
  if (status != TIMELINE_OK && status != TIMELINE_END) return status;
  block_t **place = place_of(my, block.pid, block.address);
  if (!*place) {
    *place = calloc(1, sizeof block);
    if (!*place) return timeline_analysis_fail("there is no memory for another block");
  }
  block.next = (*place)->next;
  **place = block;
  return TIMELINE_OK;
}

static void freed(allocations_t *my, block_t until) {
  block_t **place = place_of(my, until.pid, until.address), *block = *place;
  if (!block) {
    my->unknown++;
    return;
  }
  my->pairs++;
  my->bytes += block->size;
  if (block->knows_tid && until.knows_tid && block->tid != until.tid) my->elsewhere++;
  if (block->knows_since && until.knows_since && until.since > block->since) {
    const uint64_t took = until.since - block->since;
    if (took > my->longest) my->longest = took;
  }
  *place = block->next;
  free(block);
}

static timeline_status_t event(const timeline_analysis_event_t *event, void *user) {
  allocations_t *my = user;
  uint64_t address, subscription;
  timeline_status_t status = timeline_analysis_u64(event, my->address, &address);
  if (status == TIMELINE_END) return TIMELINE_OK;
  if (status == TIMELINE_OK) status = timeline_analysis_number(event, TIMELINE_ANALYSIS_SUBSCRIPTION, &subscription);
  if (status != TIMELINE_OK) return status;
  if (subscription == my->alloc) return allocated(my, event, now(event, address));
  freed(my, now(event, address));
  return TIMELINE_OK;
}

/* Forgets what is open, and counts it. */
static uint64_t forget(allocations_t *my, uint64_t *bytes) {
  uint64_t count = 0;
  for (int bucket = 0; bucket < BUCKETS; bucket++) {
    while (my->open[bucket]) {
      block_t *block = my->open[bucket];
      my->open[bucket] = block->next;
      *bytes += block->size;
      count++;
      free(block);
    }
  }
  return count;
}

/* What is open may have been freed unseen, and its address may be that of another block by now. */
static timeline_status_t gap(const timeline_analysis_gap_t *gap, void *user) {
  (void)gap;
  allocations_t *my = user;
  uint64_t bytes = 0;
  my->unknown += forget(my, &bytes);
  return TIMELINE_OK;
}

static timeline_status_t end(uint32_t how, void *user) {
  (void)how;
  allocations_t *my = user;
  uint64_t bytes = 0;
  const uint64_t left = forget(my, &bytes);
  printf("%llu blocks of %llu bytes were freed\n", (unsigned long long)my->pairs, (unsigned long long)my->bytes);
  printf("%llu of them by another thread\n", (unsigned long long)my->elsewhere);
  printf("the longest was used for %llu ns\n", (unsigned long long)my->longest);
  printf("%llu blocks of %llu bytes are still in use\n", (unsigned long long)left, (unsigned long long)bytes);
  printf("%llu lack their other half\n", (unsigned long long)my->unknown);
  return TIMELINE_OK;
}

enum { BLOCKS = 1000, KEPT_EACH = 10, ADDRESSES = 16 };

/* Blocks on their way to the thread that frees them. */
typedef struct {
  timeline_t *tl;
  uint32_t alloc, free;
  int pipe[2];
} mill_t;

static void *free_all(void *argument) {
  mill_t *mill = argument;
  int64_t address;
  while (read(mill->pipe[0], &address, sizeof address) == (ssize_t)sizeof address)
    timeline_log(mill->tl, mill->free, address, 0, 0, 0);
  return NULL;
}

/* Logs 1,000 allocations of one thread, of which another thread frees all but each tenth. Each address is used many
 * times. */
static timeline_status_t make(const char *path) {
  mill_t mill = {0};
  timeline_status_t status = timeline_new(path, 65536, 1 << 16, &mill.tl);
  if (status == TIMELINE_OK)
    status = timeline_define(mill.tl, "mem", TIMELINE_INFO, "alloc $size:u64 at $address:ptr", &mill.alloc);
  if (status == TIMELINE_OK) status = timeline_define(mill.tl, "mem", TIMELINE_INFO, "free $address:ptr", &mill.free);
  int64_t kept = 0x100000;
  for (int number = 0; number < BLOCKS && status == TIMELINE_OK; number += ADDRESSES) {
    /* Each thread ends before its addresses are used again. */
    pthread_t thread;
    if (pipe(mill.pipe) != 0 || pthread_create(&thread, NULL, free_all, &mill) != 0) abort();
    for (int at = 0; at < ADDRESSES && number + at < BLOCKS; at++) {
      const bool is_kept = (number + at) % KEPT_EACH == 0;
      const int64_t block = is_kept ? (kept += 64) : 0x1000 + 64 * at;
      timeline_log(mill.tl, mill.alloc, 64, block, 0, 0);
      if (!is_kept && write(mill.pipe[1], &block, sizeof block) != (ssize_t)sizeof block) abort();
    }
    close(mill.pipe[1]);
    pthread_join(thread, NULL);
    close(mill.pipe[0]);
  }
  timeline_free(mill.tl);
  return status;
}

int main(int argc, char **argv) {
  char own[64];
  const char *made[] = {own};
  const char *const *paths = (const char *const *)(argv + 1);
  size_t count = (size_t)argc - 1;
  if (argc < 2) {
    snprintf(own, sizeof own, "/timeline-allocations-%ld", (long)getpid());
    if (make(own) != TIMELINE_OK) {
      fprintf(stderr, "allocations: %s\n", timeline_last_error());
      return 1;
    }
    paths = made;
    count = 1;
  }
  static allocations_t allocations;
  const timeline_analyzer_t analyzer = {&allocations, begin, event, gap, NULL, end};
  timeline_analysis_t *analysis = NULL;
  timeline_status_t status = timeline_analysis_open(paths, count, TIMELINE_ANALYSIS_HELD, &analysis);
  if (argc < 2) timeline_unlink(own);
  if (status == TIMELINE_OK) status = timeline_analysis_add(analysis, &analyzer);
  if (status == TIMELINE_OK) status = timeline_analysis_run(analysis, NULL);
  if (status != TIMELINE_OK) fprintf(stderr, "allocations: %s\n", timeline_analysis_last_error());
  timeline_analysis_free(analysis);
  return status != TIMELINE_OK;
}
