/* A program that logs what it does: threads that checksum a file block by block.
 *
 *   demo NAME [ROUNDS] [THREADS] [FILE]
 *
 * Makes the timeline NAME ("/timeline"), or joins it if it is live. Reads FILE (by default this
 * program) ROUNDS times (0, the default: until SIGINT or SIGTERM). Watch it from another terminal:
 *
 *   timeline dump NAME        timeline tail NAME        timeline priority NAME info
 *
 * Build: cc -pthread demo.c $(pkg-config --cflags --libs timeline)
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <timeline.h>

enum { BLOCK = 4096, QUEUE = 16, MOST_THREADS = 64 };
/* Enough for some seconds, and fits into the small shared memory of a container. */
enum { ENTRIES = 64 * 1024, STRINGS = 64 * 1024 };

static timeline_t *tl;
static struct {
  uint32_t round, read, summed, differs, finished;
} events;

static volatile sig_atomic_t stop;

/* Blocks on their way from the thread that reads to the workers. */
typedef struct {
  int64_t number;
  size_t bytes;
  unsigned char data[BLOCK];
} block_t;

static struct {
  pthread_mutex_t lock;
  pthread_cond_t not_empty, not_full;
  block_t blocks[QUEUE];
  unsigned head, count;
  int closed;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .not_empty = PTHREAD_COND_INITIALIZER,
           .not_full = PTHREAD_COND_INITIALIZER};

static void die(const char *doing) {
  fprintf(stderr, "demo: cannot %s: %s\n", doing, timeline_last_error());
  exit(1);
}

static uint32_t define(const char *category, int32_t priority, const char *message) {
  uint32_t event = 0;
  if (timeline_define(tl, category, priority, message, &event) != TIMELINE_OK) die("define an event");
  return event;
}

static void open_timeline(const char *name) {
  const timeline_options_t options = {.entries = ENTRIES, .string_table_size = STRINGS};
  /* A timeline of an earlier run is not joined but kept, as NAME.prev. */
  if (timeline_open_or_create(name, &options, &tl) != TIMELINE_OK) die("make or join the timeline");
  events.round = define("checksum", TIMELINE_INFO, "finished $round over $bytes with $threads");
  events.read = define("reader", TIMELINE_TRACE, "read $block of $bytes, $queued in the queue\n"
                                                 "A queue that is always full says that the workers are slow.");
  events.summed = define("worker", TIMELINE_PACKET, "$worker summed $block to $adler");
  events.differs = define("checksum", TIMELINE_ERROR, "the sum of $round was $before and is $now");
  events.finished = define("checksum", TIMELINE_INFO, "finished after $rounds");
}

static uint32_t adler32(const unsigned char *data, size_t bytes) {
  uint32_t a = 1, b = 0;
  for (size_t i = 0; i < bytes; i++) {
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

static void put(const block_t *block) {
  pthread_mutex_lock(&queue.lock);
  while (queue.count == QUEUE) pthread_cond_wait(&queue.not_full, &queue.lock);
  queue.blocks[(queue.head + queue.count++) % QUEUE] = *block;
  timeline_log(tl, events.read, block->number, (int64_t)block->bytes, queue.count, 0);
  pthread_cond_signal(&queue.not_empty);
  pthread_mutex_unlock(&queue.lock);
}

static int take(block_t *block) {
  pthread_mutex_lock(&queue.lock);
  while (queue.count == 0 && !queue.closed) pthread_cond_wait(&queue.not_empty, &queue.lock);
  const int got = queue.count != 0;
  if (got) {
    *block = queue.blocks[queue.head];
    queue.head = (queue.head + 1) % QUEUE;
    queue.count--;
    pthread_cond_signal(&queue.not_full);
  }
  pthread_mutex_unlock(&queue.lock);
  return got;
}

static void close_queue(int closed) {
  pthread_mutex_lock(&queue.lock);
  queue.closed = closed;
  pthread_cond_broadcast(&queue.not_empty);
  pthread_mutex_unlock(&queue.lock);
}

typedef struct {
  pthread_t thread;
  int64_t number;
  uint32_t sum;
} worker_t;

static void *work(void *argument) {
  worker_t *me = argument;
  block_t block;
  me->sum = 0;
  while (take(&block)) {
    const uint32_t sum = adler32(block.data, block.bytes);
    /* The same for any order of the blocks. */
    me->sum += sum * (uint32_t)(block.number + 1);
    /* The check is inline: a disabled event costs a comparison and no call. */
    if (timeline_enabled(tl, events.summed)) timeline_log(tl, events.summed, me->number, block.number, sum, 0);
  }
  return NULL;
}

/* Reads the file once and returns its sum. */
static uint32_t round_over(FILE *file, worker_t *workers, int threads, int64_t *bytes) {
  for (int i = 0; i < threads; i++) {
    workers[i].number = i;
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
      perror("demo: cannot start a thread");
      exit(1);
    }
  }
  block_t block = {.number = 0};
  *bytes = 0;
  rewind(file);
  while ((block.bytes = fread(block.data, 1, BLOCK, file)) > 0) {
    put(&block);
    block.number++;
    *bytes += (int64_t)block.bytes;
  }
  close_queue(1);
  uint32_t sum = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(workers[i].thread, NULL);
    sum += workers[i].sum;
  }
  close_queue(0);
  return sum;
}

static void on_signal(int number) {
  (void)number;
  stop = 1;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 5) {
    fprintf(stderr, "usage: %s NAME [ROUNDS] [THREADS] [FILE]\n", argv[0]);
    return 2;
  }
  const int64_t rounds = argc > 2 ? strtoll(argv[2], NULL, 10) : 0;
  const int threads = argc > 3 ? atoi(argv[3]) : 3;
  const char *path = argc > 4 ? argv[4] : "/proc/self/exe";
  if (rounds < 0 || threads < 1 || threads > MOST_THREADS) {
    fprintf(stderr, "demo: ROUNDS is 0 or more, THREADS 1 to %d\n", MOST_THREADS);
    return 2;
  }
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    return 1;
  }
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);

  open_timeline(argv[1]);
  worker_t workers[MOST_THREADS];
  uint32_t first = 0;
  int64_t done = 0;
  while (!stop && (rounds == 0 || done < rounds)) {
    int64_t bytes = 0;
    const uint32_t sum = round_over(file, workers, threads, &bytes);
    timeline_log(tl, events.round, done, bytes, threads, 0);
    if (done == 0) first = sum;
    if (sum != first) timeline_log(tl, events.differs, done, first, sum, 0);
    done++;
  }
  timeline_log(tl, events.finished, done, 0, 0, 0);
  printf("demo: %" PRId64 " rounds, sum %08" PRIx32 "\n", done, first);
  fclose(file);
  timeline_free(tl);
  return 0;
}
