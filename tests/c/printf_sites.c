/* Statements: evaluation of arguments, levels, handles, threads, handlers, children. printf_sites
 * DIR */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMELINE_CATEGORY "sites"
#include <timeline.h>

#include "check.h"

static char path[4096], text[8192];

static timeline_t *make(uint64_t entries, uint64_t strings) {
  timeline_t *tl = NULL;
  CHECK_EQ(timeline_new(path, entries, strings, &tl), TIMELINE_OK);
  return tl;
}

typedef struct {
  timeline_attached_t *at;
  timeline_cursor_t *cursor;
  timeline_event_t event;
} reader_t;

static reader_t reader(void) {
  reader_t r = {NULL, NULL, {0}};
  CHECK_EQ(timeline_attach(path, &r.at), TIMELINE_OK);
  CHECK_EQ(timeline_follow(r.at, TIMELINE_FROM_OLDEST, &r.cursor), TIMELINE_OK);
  return r;
}

static bool next(reader_t *r) {
  const timeline_status_t status = timeline_next(r->cursor, &r->event);
  if (status == TIMELINE_END) return false;
  CHECK_EQ(status, TIMELINE_OK);
  CHECK_EQ(timeline_render(&r->event, text, sizeof text, NULL), TIMELINE_OK);
  return true;
}

static void done(reader_t *r, timeline_t *tl) {
  CHECK(!next(r));
  timeline_cursor_free(r->cursor);
  timeline_attached_free(r->at);
  timeline_free(tl);
  CHECK_EQ(timeline_unlink(path), TIMELINE_OK);
}

static int evaluated;
static int costly(int value) {
  evaluated++;
  return value;
}

/* One statement, for any handle and level. */
static void say(timeline_t *tl, int32_t level, int number) {
  TIMELINE_PRINTF(tl, level, "number %d", costly(number));
}

static void levels(void) {
  timeline_t *const tl = make(256, 0);
  reader_t r = reader();
  evaluated = 0;
  for (int32_t level = TIMELINE_NONE; level <= TIMELINE_ALL; level++) {
    CHECK_EQ(timeline_priority(tl, level), TIMELINE_OK);
    for (int32_t priority = TIMELINE_ERROR; priority <= TIMELINE_LIBRARY; priority++) {
      const int before = evaluated;
      say(tl, priority, priority);
      CHECK_EQ(evaluated - before, priority <= level);
      CHECK_EQ(next(&r), priority <= level);
      if (priority > level) continue;
      CHECK_EQ(r.event.priority, priority);
      CHECK_EQ(text[7] - '0', priority);
    }
  }
  /* No timeline, and numbers that are no level. */
  const int before = evaluated;
  const int32_t wrong[] = {TIMELINE_NONE, TIMELINE_ALL, -1, 256 + TIMELINE_INFO, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) say(tl, wrong[i], 1);
  say(NULL, TIMELINE_INFO, 1);
  CHECK_EQ(evaluated, before);
  done(&r, tl);
}

/* In every syntactic place of a statement. */
static void places(void) {
  timeline_t *const tl = make(256, 0);
  reader_t r = reader();
  if (tl == NULL)
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "not here");
  else
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "here");
  CHECK(next(&r) && strcmp(text, "here") == 0);
  CHECK(strcmp(r.event.category, "sites") == 0);
#undef TIMELINE_CATEGORY
#define TIMELINE_CATEGORY "other"
  for (int i = 0; i < 3; i++) TIMELINE_PRINTF(tl, TIMELINE_INFO, "turn %d of %s", i, "three");
  uint32_t event = 0;
  for (int i = 0; i < 3; i++) {
    CHECK(next(&r) && text[5] - '0' == i && strcmp(text + 6, " of three") == 0);
    CHECK(strcmp(r.event.category, "other") == 0 && strcmp(r.event.message, "turn %d of %s") == 0);
    CHECK(i == 0 || r.event.event == event);
    event = r.event.event;
  }
  /* The same words elsewhere are another event. */
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "turn %d of %s", 3, "three");
  CHECK(next(&r) && r.event.event != event);
  /* A dollar has no meaning here, and lines are kept. */
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "$a of\n$b %s", "c\nd");
  CHECK(next(&r) && strcmp(text, "$a of\n$b c\nd") == 0);
  CHECK_EQ(r.event.argument_count, 0);
  /* An empty format: only the place and the call stack. */
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "");
  CHECK(next(&r) && strcmp(text, "") == 0 && strcmp(r.event.message, "") == 0 && r.event.line > 0);
  CHECK_EQ(r.event.priority, TIMELINE_INFO);
  if (tl) TIMELINE_BACKTRACE(tl, TIMELINE_ERROR, "");
  CHECK(next(&r) && strcmp(text, "") == 0 && r.event.backtrace_count > 0);
  CHECK_EQ(r.event.priority, TIMELINE_ERROR);
  done(&r, tl);
}

/* More handles than a statement remembers, in turn. */
static void handles(void) {
  enum { HANDLES = 20 };
  timeline_t *all[HANDLES];
  all[0] = make(1024, 0);
  reader_t r = reader();
  for (int i = 1; i < HANDLES; i++) CHECK_EQ(timeline_open(path, &all[i]), TIMELINE_OK);
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < HANDLES; i++) say(all[i], TIMELINE_INFO + i % 2, i);
  for (int i = 0; i < 3 * HANDLES; i++) {
    CHECK(next(&r));
    CHECK_EQ(strtol(text + 7, NULL, 10), i % HANDLES);
    CHECK_EQ(r.event.priority, TIMELINE_INFO + i % HANDLES % 2);
  }
  for (int i = 1; i < HANDLES; i++) timeline_free(all[i]);
  done(&r, all[0]);
}

/* A format that cannot be defined is neither logged nor tried again; errno always stays. */
static void failures(void) {
  timeline_t *const tl = make(256, 1024);
  reader_t r = reader();
  uint32_t event = 0;
  char name[32];
  for (int i = 0; timeline_define(tl, "full", TIMELINE_INFO, (sprintf(name, "event %d", i), name), &event) == TIMELINE_OK; i++)
    CHECK(i < 1000);
  evaluated = 0;
  for (int i = 0; i < 2; i++) {
    errno = EDOM;
    say(tl, TIMELINE_INFO, i);
    TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "%d", costly(1));
    CHECK_EQ(errno, EDOM);
  }
  CHECK_EQ(evaluated, 0);
  CHECK(strstr(timeline_last_error(), "table") != NULL);
  done(&r, tl);
}

static void errno_stays(void) {
  timeline_t *const tl = make(256, 0);
  reader_t r = reader();
  for (int i = 0; i < 3; i++) {
    errno = ERANGE;
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "%d %s", i, "a");
    CHECK_EQ(errno, ERANGE);
    TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "%d %s", i, "b");
    CHECK_EQ(errno, ERANGE);
    CHECK(next(&r) && next(&r));
  }
  done(&r, tl);
}

/* All threads reach the same statement for the first time at once. */
enum { THREADS = 4, ROUNDS = 50, TURNS = 20 };
static timeline_t *shared;
static pthread_barrier_t barrier;

static void *work(void *number) {
  for (int round = 0; round < ROUNDS; round++) {
    pthread_barrier_wait(&barrier);
    /* For a handle that no statement knows yet. */
    for (int turn = 0; turn < TURNS; turn++)
      TIMELINE_PRINTF(shared, TIMELINE_INFO, "%d %d %d %s %.3f", *(int *)number, round, turn, "text", 0.125 * turn);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

static void threads(void) {
  timeline_t *const tl = make(65536, 0);
  reader_t r = reader();
  pthread_t ids[THREADS];
  int numbers[THREADS];
  CHECK(pthread_barrier_init(&barrier, NULL, THREADS + 1) == 0);
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    CHECK(pthread_create(&ids[i], NULL, work, &numbers[i]) == 0);
  }
  for (int round = 0; round < ROUNDS; round++) {
    CHECK_EQ(timeline_open(path, &shared), TIMELINE_OK);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    timeline_free(shared);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(ids[i], NULL);
  static int seen[THREADS][ROUNDS];
  uint32_t event = 0;
  for (int i = 0; i < THREADS * ROUNDS * TURNS; i++) {
    CHECK(next(&r));
    int number = -1, round = -1, turn = -1;
    CHECK(sscanf(text, "%d %d %d", &number, &round, &turn) == 3);
    CHECK(number >= 0 && number < THREADS && round >= 0 && round < ROUNDS);
    CHECK_EQ(seen[number][round]++, turn);
    char wanted[200];
    snprintf(wanted, sizeof wanted, "%d %d %d %s %.3f", number, round, turn, "text", 0.125 * turn);
    CHECK(strcmp(text, wanted) == 0);
    CHECK(i == 0 || r.event.event == event);
    event = r.event.event;
  }
  done(&r, tl);
}

static void handler(int signal) {
  TIMELINE_PRINTF(shared, TIMELINE_INFO, "signal %d in %s", signal, "handler");
}

/* A handler interrupts log calls at any place; all events of both are whole. */
static void signals(void) {
  shared = make(65536, 0);
  reader_t r = reader();
  handler(0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 1000; i++) kill(parent, SIGUSR1);
    _exit(0);
  }
  int status = 0, count = 0;
  while (waitpid(child, &status, WNOHANG) == 0 && count < 15000)
    TIMELINE_PRINTF(shared, TIMELINE_INFO, "%d: a text longer than what one entry holds, which %s", count++, "an interruption finds");
  if (!WIFEXITED(status)) waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  int of_handler = -1, of_loop = 0;
  while (next(&r)) {
    char wanted[200];
    if (text[0] == 's') {
      of_handler++;
      snprintf(wanted, sizeof wanted, "signal %d in handler", of_handler == 0 ? 0 : SIGUSR1);
    } else {
      snprintf(wanted, sizeof wanted, "%d: a text longer than what one entry holds, which an interruption finds", of_loop++);
    }
    CHECK(strcmp(text, wanted) == 0);
  }
  CHECK_EQ(timeline_missed(r.cursor), 0);
  CHECK_EQ(of_loop, count);
  CHECK(of_handler > 0);
  done(&r, shared);
}

/* A child knows the statements of its parent, and logs as itself. */
static void children(void) {
  timeline_t *const tl = make(1024, 0);
  reader_t r = reader();
  say(tl, TIMELINE_INFO, 1);
  const pid_t child = fork();
  if (child == 0) {
    say(tl, TIMELINE_INFO, 2);
    say(tl, TIMELINE_ERROR, 3);
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "only here: %d %s", 4, "first");
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  say(tl, TIMELINE_INFO, 5);
  static const char *const wanted[] = {"number 1", "number 2", "number 3", "only here: 4 first", "number 5"};
  for (int i = 0; i < 5; i++) {
    CHECK(next(&r));
    CHECK(strcmp(text, wanted[i]) == 0);
    CHECK_EQ(r.event.pid, i > 0 && i < 4 ? child : getpid());
  }
  done(&r, tl);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  levels();
  places();
  handles();
  failures();
  errno_stays();
  threads();
  signals();
  children();
  puts("printf_sites: ok");
  return 0;
}
