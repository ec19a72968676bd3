/* Statements that cannot be defined at first: each dropped event is counted, the program waits long
 * for a held lock only once, and the statements log when it is free. Also C++. printf_later DIR
 *
 * printf_later DIR unread: built without unwind tables, so that signal handlers are not
 * recognisable. */
#ifndef _GNU_SOURCE /* C++ has it already */
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <timeline.h>

#include "check.h"

/* One run in so many tries again. */
enum { AGAIN = 1024 };

static char path[4096];
static timeline_t *tl;
static const volatile char *header;

/* The count of the header: the field dropped_undefined. */
static uint64_t lost(void) { return *(const volatile uint64_t *)(header + 0x8e0); }

/* Replaces the function of the C library for this program and its libraries: a wait for a lock
 * sleeps. The time slept in nanoseconds, and an action for the next sleep. */
static uint64_t slept;
static void (*asleep)(void);

/* The least time of a long wait, and the most of a short one. */
static const uint64_t LONG = 5000000000u, SHORT = 2000000;

#ifdef __cplusplus
extern "C" {
#endif
int nanosleep(const struct timespec *time, struct timespec *rest) {
  void (*const now)(void) = asleep;
  (void)rest;
  slept += (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
  asleep = NULL;
  if (now) now();
  return 0;
}
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest) {
  (void)clock, (void)flags;
  return nanosleep(time, rest);
}
#ifdef __cplusplus
}
#endif

/* ---- Another process that holds the lock ----------------------------------------------------- */

static pid_t holder;
static int end[2];

static void hold(void) {
  int held[2];
  char byte = 0;
  CHECK_EQ(pipe(held), 0);
  CHECK_EQ(pipe(end), 0);
  holder = fork();
  CHECK(holder >= 0);
  if (holder == 0) {
    close(end[1]);
    const int file = open(path, O_RDWR);
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_start = (off_t)1 << 62;
    lock.l_len = 1;
    if (fcntl(file, F_OFD_SETLKW, &lock) != 0 || write(held[1], "x", 1) != 1) _exit(1);
    /* Until the other end is closed. */
    _exit(read(end[0], &byte, 1) != 0);
  }
  close(held[1]);
  CHECK_EQ(read(held[0], &byte, 1), 1);
  close(held[0]);
  close(end[0]);
}

static void let_go(void) {
  int status = 1;
  close(end[1]);
  CHECK_EQ(waitpid(holder, &status, 0), holder);
  CHECK_EQ(status, 0);
}

/* ---- Statements ------------------------------------------------------------------------------ */

static int evaluated;
static int costly(int value) {
  evaluated++;
  return value;
}

static void say(int32_t level, int number) { TIMELINE_PRINTF(tl, level, "number %d", costly(number)); }

/* Counts the events with this text, and those with another. */
static unsigned count(const char *wanted, unsigned *others) {
  timeline_attached_t *at = NULL;
  timeline_cursor_t *cursor = NULL;
  timeline_event_t event;
  char text[256];
  unsigned found = 0;
  *others = 0;
  CHECK_EQ(timeline_attach(path, &at), TIMELINE_OK);
  CHECK_EQ(timeline_events(at, TIMELINE_OLDEST_FIRST, &cursor), TIMELINE_OK);
  while (timeline_next(cursor, &event) == TIMELINE_OK) {
    CHECK_EQ(timeline_render(&event, text, sizeof text, NULL), TIMELINE_OK);
    if (strcmp(text, wanted) == 0) {
      found++;
    } else {
      ++*others;
    }
  }
  timeline_cursor_free(cursor);
  timeline_attached_free(at);
  return found;
}

static void make_of(uint64_t entries) {
  CHECK_EQ(timeline_new(path, entries, 0, &tl), TIMELINE_OK);
  const int file = open(path, O_RDONLY);
  header = (const volatile char *)mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
  CHECK(header != MAP_FAILED);
  close(file);
}

static void make(void) { make_of(65536); }

/* Saved for readers after this program. */
static void leave(pid_t child, pid_t grandchild) {
  char name[4200];
  snprintf(name, sizeof name, "%.4000s", path);
  strcpy(strrchr(name, '/'), "/lost");
  FILE *const file = fopen(name, "w");
  CHECK(file != NULL);
  fprintf(file, "%u %d %d", (unsigned)lost(), (int)child, (int)grandchild);
  fclose(file);
}

static void done(void) {
  timeline_free(tl);
  CHECK_EQ(timeline_unlink(path), TIMELINE_OK);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

/* The host has closed our descriptor, as daemons do, and has none left. */
static void without_descriptors(void) {
  struct rlimit few, before;
  unsigned others;
  make();
  CHECK_EQ(syscall(SYS_close_range, 3, ~0u, 0), 0);
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  few = before;
  few.rlim_cur = 3;
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  evaluated = 0;
  for (int i = 0; i < 2 * AGAIN; i++) {
    errno = EDOM;
    say(TIMELINE_INFO, 1);
    CHECK_EQ(errno, EDOM);
  }
  CHECK(strstr(timeline_last_error(), "open") != NULL);
  CHECK_EQ(lost(), 2 * AGAIN);
  CHECK_EQ(evaluated, 0);
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  CHECK_EQ(slept, 0);
  /* This failure says nothing about the lock. */
  hold();
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "another %d", costly(0));
  CHECK(slept >= LONG);
  let_go();
  for (int i = 0; i < 10; i++) say(TIMELINE_INFO, 2);
  CHECK_EQ(lost(), 2 * AGAIN + 1);
  CHECK_EQ(count("number 2", &others), 10);
  CHECK_EQ(others, 0);
  done();
}

/* An event that a level or an argument keeps from the log is not counted, and a lasting failure is
 * not tried again. */
static void not_lost(void) {
  make();
  CHECK_EQ(timeline_priority(tl, TIMELINE_INFO), TIMELINE_OK);
  timeline_site_t site = {"two\nlines", "%d", __FILE__, __LINE__, 0, 0, 0, 0, 0};
  for (int i = 0; i < 2 * AGAIN; i++) CHECK_EQ(timeline_site_define(tl, &site, TIMELINE_INFO, NULL), 0);
  CHECK_EQ(timeline_site_define(tl, NULL, TIMELINE_INFO, NULL), 0);
  CHECK_EQ(timeline_site_define(tl, &site, TIMELINE_ALL, NULL), 0);
  site.category = "one line";
  CHECK_EQ(timeline_site_define(tl, &site, TIMELINE_INFO, NULL), 0);
  hold();
  for (int i = 0; i < 10; i++) say(TIMELINE_TRACE, i);
  CHECK_EQ(lost(), 0);
  say(TIMELINE_ERROR, 1);
  CHECK_EQ(lost(), 1);
  let_go();
  done();
}

static void while_locked(void) {
  unsigned others;
  make();
  evaluated = 0;
  slept = 0;
  hold();
  say(TIMELINE_INFO, 0);
  CHECK(slept >= LONG);
  CHECK(strstr(timeline_last_error(), "locked") != NULL);
  slept = 0;
  for (int i = 1; i < 100; i++) say(TIMELINE_INFO, 0);
  CHECK_EQ(slept, 0);
  /* Other statements, and this one at another level. */
  say(TIMELINE_ERROR, 0);
  for (int i = 0; i < 2; i++) {
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "another %d", costly(0));
    TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "a third %d", costly(0));
  }
  CHECK_EQ(lost(), 105);
  CHECK_EQ(evaluated, 0);
  CHECK(slept > 0 && slept <= 3 * SHORT);
  /* The holder of the lock only lost its CPU. */
  asleep = let_go;
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "in a moment %d", costly(0));
  CHECK(asleep == NULL);
  CHECK_EQ(lost(), 105);
  CHECK_EQ(evaluated, 1);
  /* The program got the lock: the next time that it is held, it waits long again. */
  hold();
  slept = 0;
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "locked again %d", costly(0));
  CHECK(slept >= LONG);
  CHECK_EQ(lost(), 106);
  let_go();
  slept = 0;
  for (int i = 100; i < AGAIN + 10; i++) say(TIMELINE_INFO, i);
  CHECK_EQ(lost(), 6 + AGAIN);
  CHECK_EQ(evaluated, 11);
  CHECK_EQ(count("number 1024", &others), 1);
  CHECK_EQ(others, 10);
  CHECK_EQ(slept, 0);
  done();
}

static void say_in_handler(int32_t level) { TIMELINE_PRINTF(tl, level, "%s", "in a handler"); }

static void handler(int signal) {
  (void)signal;
  for (int i = 0; i < 2 * AGAIN; i++) say_in_handler(TIMELINE_INFO);
}

static void handle(int signal, void (*with)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = with;
  CHECK_EQ(sigaction(signal, &action, NULL), 0);
}

/* A handler does not try again: it may have interrupted malloc. */
static void in_handlers(void) {
  unsigned others;
  make();
  handle(SIGUSR1, handler);
  hold();
  say_in_handler(TIMELINE_INFO);
  let_go();
  CHECK_EQ(raise(SIGUSR1), 0);
  CHECK_EQ(lost(), 1 + 2 * AGAIN);
  for (int i = 0; i < AGAIN; i++) say_in_handler(TIMELINE_INFO);
  CHECK_EQ(lost(), 3 * AGAIN);
  CHECK_EQ(count("in a handler", &others), 1);
  CHECK_EQ(raise(SIGUSR1), 0);
  CHECK_EQ(lost(), 3 * AGAIN);
  CHECK_EQ(count("in a handler", &others), 1 + 2 * AGAIN);
  done();
}

enum { THREADS = 4, TURNS = 5000 };

static void *work(void *barrier) {
  pthread_barrier_wait((pthread_barrier_t *)barrier);
  for (int i = 0; i < TURNS; i++) say(TIMELINE_INFO, 7);
  return NULL;
}

/* Each event of each thread is logged, or dropped and counted. */
static void threads(void) {
  unsigned others;
  pthread_t ids[THREADS];
  pthread_barrier_t barrier;
  make();
  hold();
  say(TIMELINE_INFO, 7);
  let_go();
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, THREADS), 0);
  for (int i = 0; i < THREADS; i++) CHECK_EQ(pthread_create(&ids[i], NULL, work, &barrier), 0);
  for (int i = 0; i < THREADS; i++) CHECK_EQ(pthread_join(ids[i], NULL), 0);
  const unsigned logged = count("number 7", &others);
  CHECK_EQ(logged + lost(), 1 + THREADS * TURNS);
  CHECK(logged > 0);
  done();
}

static void trace(void) { TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "from %s", "here"); }

static void ended(pid_t child) {
  int status = 1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}

/* A child that cannot tell the timeline of its objects at first, and its children, which wait for
 * themselves. */
static pid_t told_later(pid_t *grandchild) {
  trace();
  const pid_t child = fork();
  if (child == 0) {
    hold();
    slept = 0;
    trace();
    CHECK(slept >= LONG);
    slept = 0;
    trace();
    CHECK_EQ(slept, 0);
    const pid_t waits = fork();
    if (waits == 0) {
      say(TIMELINE_INFO, 0);
      CHECK(slept >= LONG);
      _exit(0);
    }
    ended(waits);
    let_go();
    const pid_t tells = fork();
    if (tells == 0) {
      trace();
      _exit(0);
    }
    ended(tells);
    *grandchild = tells;
    for (int i = 1; i < AGAIN; i++) trace();
    _exit(0);
  }
  ended(child);
  CHECK_EQ(lost(), 1);
  return child;
}

static void trace_in_handler(int signal) {
  (void)signal;
  for (int i = 0; i < 2 * AGAIN; i++) trace();
}

/* A function that may be a handler does not try again; a child whose objects are never told. */
static pid_t unread(void) {
  unsigned others;
  make();
  handle(SIGUSR1, handler);
  handle(SIGUSR2, trace_in_handler);
  trace();
  hold();
  say_in_handler(TIMELINE_INFO);
  let_go();
  CHECK_EQ(raise(SIGUSR1), 0);
  CHECK_EQ(lost(), 1 + 2 * AGAIN);
  CHECK_EQ(count("in a handler", &others), 0);
  const pid_t child = fork();
  if (child == 0) {
    hold();
    slept = 0;
    trace();
    CHECK(slept > 0);
    let_go();
    CHECK_EQ(raise(SIGUSR2), 0);
    _exit(0);
  }
  ended(child);
  return child;
}

/* Of a timeline that is full of definitions, each event that is lost is counted. */
static void full(void) {
  uint32_t event;
  char text[64];
  make_of(256);
  int defined = 0;
  do {
    snprintf(text, sizeof text, "filler %d of the table", defined++);
  } while (timeline_define(tl, "filler", TIMELINE_INFO, text, &event) == TIMELINE_OK);
  for (int i = 0; i < 2 * AGAIN; i++) {
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "no room for %d", i);
    TIMELINE_EVENT(tl, TIMELINE_INFO, "full", "no room for $n", i);
  }
  CHECK(strstr(timeline_last_error(), "full") != NULL);
  CHECK_EQ(lost(), 4 * AGAIN);
  done();
}

int main(int argc, char **argv) {
  CHECK(argc == 2 || argc == 3);
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  if (argc == 3) {
    CHECK_EQ(strcmp(argv[2], "unread"), 0);
    leave(unread(), 0);
    puts("printf_later: ok");
    return 0;
  }
  without_descriptors();
  not_lost();
  while_locked();
  in_handlers();
  threads();
  full();
  make();
  pid_t *const grandchild =
      (pid_t *)mmap(NULL, sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(grandchild != MAP_FAILED);
  const pid_t child = told_later(grandchild);
  leave(child, *grandchild);
  puts("printf_later: ok");
  return 0;
}
