/* How many bytes of stack logging takes: the bytes of a painted stack that have changed. Prints a
 * name and a number for each case. Needs C11. stack DIR */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <timeline.h>

#include "check.h"

enum { PAINT = 0xa5, SIZE = 64 << 10, MANY = 64 };

static char folder[4096];
static timeline_t *tl;
static uint32_t event;
static void (*logs)(void);

/* The caller of the function that logs. */
static const char *top;
static void call(void) {
  top = __builtin_frame_address(0);
  logs();
}

/* How deep the stack gets below `call`. */
static long painted(void (*f)(void)) {
  static _Thread_local char stack[SIZE] __attribute__((aligned(64)));
  ucontext_t here, there;
  logs = f;
  memset(stack, PAINT, sizeof stack);
  CHECK_EQ(getcontext(&there), 0);
  there.uc_stack.ss_sp = stack;
  there.uc_stack.ss_size = sizeof stack;
  there.uc_link = &here;
  makecontext(&there, call, 0);
  CHECK_EQ(swapcontext(&here, &there), 0);
  long first = 0;
  while (first < SIZE && (unsigned char)stack[first] == PAINT) first++;
  CHECK(first > 0 && first < SIZE);
  return top - (stack + first);
}

static void log_one(void) { timeline_log(tl, event, 1, 2, 3, 4); }
/* Several chunks full. */
static void log_many(void) {
  for (int i = 0; i < 4096; i++) timeline_log(tl, event, i, 2, 3, 4);
}
static char text[2000];
static void log_printf(void) { TIMELINE_PRINTF(tl, TIMELINE_INFO, "%s", text); }
static void log_backtrace(void) { TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "%s", text); }

static void *measure(void *f) {
  void (*logs_now)(void);
  memcpy(&logs_now, &f, sizeof f);
  return (void *)painted(logs_now);
}

static void report(const char *name, void (*f)(void)) {
  void *address, *depth;
  memcpy(&address, &f, sizeof f);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, measure, address), 0);
  CHECK_EQ(pthread_join(thread, &depth), 0);
  printf("%s %ld\n", name, (long)depth);
  fflush(stdout);
}

static void make(const char *name) {
  char path[8192];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  timeline_free(tl);
  CHECK_EQ(timeline_new(path, 256, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_define(tl, "stack", TIMELINE_INFO, "step $a $b $c $d", &event), TIMELINE_OK);
  /* Here the statements are defined. */
  log_printf();
  log_backtrace();
}

static void in_child(const char *name, void (*f)(void)) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    report(name, f);
    _exit(0);
  }
  int status = 1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

static int ready[2];
static pthread_barrier_t all;
static void *log_and_stay(void *unused) {
  log_one();
  pthread_barrier_wait(&all);
  pause();
  return unused;
}

/* A process with as many threads that have logged as there is room for, and more. */
static pid_t crowd(void) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0) {
    char c;
    CHECK_EQ(read(ready[0], &c, 1), 1);
    return child;
  }
  pthread_barrier_init(&all, NULL, MANY + 1);
  for (int i = 0; i < MANY; i++) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, log_and_stay, NULL), 0);
  }
  pthread_barrier_wait(&all);
  CHECK_EQ(write(ready[1], "", 1), 1);
  pause();
  _exit(1);
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  snprintf(folder, sizeof folder, "%s", argv[1]);
  CHECK_EQ(pipe(ready), 0);
  memset(text, 'x', sizeof text - 1);
  timeline_log(NULL, 0, 0, 0, 0, 0); /* now the loader looks the function up */
  make("ring");
  report("first", log_one);
  report("refill", log_many);
  report("first-printf", log_printf);
  report("first-backtrace", log_backtrace);
  in_child("child", log_one);
  make("crowded");
  const pid_t child = crowd();
  report("living", log_one);
  report("living-printf", log_printf);
  CHECK_EQ(kill(child, SIGKILL), 0);
  CHECK_EQ(waitpid(child, NULL, 0), child);
  report("dead", log_one);
  make("crowded-again");
  const pid_t other = crowd();
  CHECK_EQ(kill(other, SIGKILL), 0);
  CHECK_EQ(waitpid(other, NULL, 0), other);
  report("dead-printf", log_printf);
  timeline_free(tl);
  return 0;
}
