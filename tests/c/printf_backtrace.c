/* Call stacks. printf_backtrace DIR [PLUGIN]. PLUGIN is a library with `void plugin(void
 * (*)(void))`, which calls its argument: then one stack leads through an object loaded later.
 *
 * Leaves DIR/ring, and prints `NAME PID ADDRESS` of functions that readers must find in its
 * modules. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <timeline.h>

#include "check.h"

#define NOINLINE __attribute__((noinline))

static timeline_t *tl;
static timeline_attached_t *at;
static timeline_cursor_t *cursor;
static timeline_event_t event;
static char text[256];

static void next(const char *wanted) {
  CHECK_EQ(timeline_next(cursor, &event), TIMELINE_OK);
  CHECK_EQ(timeline_render(&event, text, sizeof text, NULL), TIMELINE_OK);
  if (strcmp(text, wanted) != 0) {
    fprintf(stderr, "is \"%s\", expected \"%s\"\n", text, wanted);
    exit(1);
  }
}

static uint64_t returns_to[3];
#define RETURN_ADDRESS ((uint64_t)(uintptr_t)__builtin_return_address(0))

/* Not tail calls, so that each has a frame. */
NOINLINE static int inner(int number) {
  returns_to[0] = RETURN_ADDRESS;
  TIMELINE_BACKTRACE(tl, TIMELINE_ERROR, "bad block %d of %s", number, "a file");
  return number + 1;
}
NOINLINE static int middle(int number) {
  returns_to[1] = RETURN_ADDRESS;
  return inner(number) + 1;
}
NOINLINE static int outer(int number) {
  returns_to[2] = RETURN_ADDRESS;
  return middle(number) + 1;
}

static void a_stack(void) {
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(outer(7), 10);
    next("bad block 7 of a file");
    CHECK(event.backtrace_count > 4 && event.backtrace_count < 32);
    /* The first is the return address of the statement itself. */
    const uint64_t first = event.backtrace[0], begin = (uint64_t)(uintptr_t)inner;
    CHECK(first > begin && first < begin + 500);
    for (uint32_t frame = 0; frame < 3; frame++) CHECK_EQ(event.backtrace[frame + 1], returns_to[frame]);
    for (uint32_t frame = 0; frame < event.backtrace_count; frame++) CHECK(event.backtrace[frame] != 0);
  }
  printf("main %d %" PRIx64 "\n", (int)getpid(), event.backtrace[0]);
}

/* The last statement of a function, where a tail call would leave no frame of it. */
NOINLINE static void last(void) { TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "last of %s", "all"); }

static void a_last_call(void) {
  last();
  next("last of all");
  const uint64_t begin = (uint64_t)(uintptr_t)last;
  CHECK(event.backtrace[0] > begin && event.backtrace[0] < begin + 500);
}

/* Deeper than the limit: the innermost frames are kept. */
static volatile int depths;
NOINLINE static int down(int depth) {
  if (depth == 0) {
    TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "deep");
    return 1;
  }
  const int below = down(depth - 1);
  depths++;
  return below + 1;
}

static void deep(void) {
  CHECK_EQ(down(100), 101);
  next("deep");
  CHECK_EQ(event.backtrace_count, 32);
  const uint64_t begin = (uint64_t)(uintptr_t)down;
  for (int i = 0; i < 32; i++) CHECK(event.backtrace[i] > begin && event.backtrace[i] < begin + 2000);
}

/* Through a handler to the interrupted function. */
static volatile sig_atomic_t handled;
static void handler(int signal, siginfo_t *info, void *context) {
  (void)info;
  (void)context;
  TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "signal %d", signal);
  handled = 1;
}
NOINLINE static void trap(void) {
  raise(SIGUSR1);
  handled = 0;
}

static void in_a_handler(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  trap();
  next("signal 10");
  /* The handler, the kernel's trampoline, the function that raises, and its caller. */
  bool found = false;
  const uint64_t begin = (uint64_t)(uintptr_t)trap;
  for (uint32_t i = 0; i < event.backtrace_count; i++)
    found |= i > 1 && event.backtrace[i] > begin && event.backtrace[i] < begin + 200;
  CHECK(found);
}

static void *work(void *number) {
  for (int i = 0; i < 1000; i++) outer(*(int *)number);
  return NULL;
}

static void threads(void) {
  enum { THREADS = 3 };
  pthread_t ids[THREADS];
  int numbers[THREADS];
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    CHECK(pthread_create(&ids[i], NULL, work, &numbers[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(ids[i], NULL);
  for (int i = 0; i < 1000 * THREADS; i++) {
    CHECK_EQ(timeline_next(cursor, &event), TIMELINE_OK);
    CHECK(event.backtrace_count > 3);
    CHECK_EQ(event.backtrace[1], returns_to[0]);
    CHECK_EQ(event.backtrace[2], returns_to[1]);
  }
}

/* A child tells the timeline of its own objects. */
static void a_child(void) {
  const pid_t child = fork();
  if (child == 0) {
    inner(9);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  next("bad block 9 of a file");
  CHECK_EQ(event.pid, child);
  printf("child %d %" PRIx64 "\n", (int)child, event.backtrace[0]);
  fflush(stdout);
}

static void called_back(void) { inner(8); }

static void loaded_later(const char *file) {
  void *const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  void (*plugin)(void (*)(void));
  void *const symbol = dlsym(library, "plugin");
  CHECK(symbol != NULL);
  memcpy(&plugin, &symbol, sizeof plugin);
  plugin(called_back);
  next("bad block 8 of a file");
  for (uint32_t i = 0; i < event.backtrace_count; i++) {
    Dl_info of;
    void *address;
    memcpy(&address, &event.backtrace[i], sizeof address);
    if (dladdr(address, &of) && strcmp(of.dli_fname, file) == 0)
      printf("plugin %d %" PRIx64 "\n", (int)getpid(), event.backtrace[i]);
  }
}

int main(int argc, char **argv) {
  CHECK(argc == 2 || argc == 3);
  char path[4096];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 65536, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_attach(path, &at), TIMELINE_OK);
  CHECK_EQ(timeline_follow(at, TIMELINE_FROM_OLDEST, &cursor), TIMELINE_OK);
  a_stack();
  a_last_call();
  deep();
  in_a_handler();
  threads();
  a_child();
  if (argc == 3) loaded_later(argv[2]);
  CHECK_EQ(timeline_next(cursor, &event), TIMELINE_END);
  timeline_cursor_free(cursor);
  timeline_attached_free(at);
  timeline_free(tl);
  puts("printf_backtrace: ok");
  return 0;
}
