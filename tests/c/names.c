/* Threads with names of the program and of the system: what readers see of them. names DIR */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/wait.h>

#include <timeline.h>

#include "check.h"

static timeline_t *tl;
static char path[4096];
static uint32_t event;

/* The timeline looks at the system's name of a thread that defines an event. */
static void define(void) {
  uint32_t same = 0;
  CHECK_EQ(timeline_define(tl, "names", TIMELINE_APP, "thread $number logs $count", &same), TIMELINE_OK);
  CHECK(event == 0 || same == event);
  event = same;
}

/* The newest event of `who`. */
static timeline_event_t newest(int64_t who) {
  timeline_attached_t *at = NULL;
  timeline_cursor_t *cursor = NULL;
  CHECK_EQ(timeline_attach(path, &at), TIMELINE_OK);
  CHECK_EQ(timeline_events(at, TIMELINE_NEWEST_FIRST, &cursor), TIMELINE_OK);
  timeline_event_t found;
  do CHECK_EQ(timeline_next(cursor, &found), TIMELINE_OK);
  while (found.args[0] != who);
  timeline_cursor_free(cursor);
  timeline_attached_free(at);
  return found;
}

static void is_called(int64_t who, const char *name, const char *group) {
  const timeline_event_t found = newest(who);
  if (strcmp(found.thread, name) != 0 || strcmp(found.group, group) != 0)
    fprintf(stderr, "expected '%s' of '%s', got '%s' of '%s'\n", name, group, found.thread, found.group);
  CHECK(strcmp(found.thread, name) == 0 && strcmp(found.group, group) == 0);
}

static void *by_the_program(void *unused) {
  (void)unused;
  CHECK_EQ(pthread_setname_np(pthread_self(), "the system's"), 0);
  /* Before its first event, again, and back. */
  CHECK_EQ(timeline_thread(tl, "worker 3", "workers"), TIMELINE_OK);
  timeline_log(tl, event, 1, 0, 0, 0);
  is_called(1, "worker 3", "workers");
  const uint32_t tid = newest(1).tid;
  CHECK_EQ(timeline_thread(tl, "worker 4", NULL), TIMELINE_OK);
  is_called(1, "worker 4", "");
  /* The program's name wins over a later one of the system. */
  CHECK_EQ(pthread_setname_np(pthread_self(), "ignored"), 0);
  define();
  is_called(1, "worker 4", "");
  CHECK_EQ(timeline_thread(tl, NULL, "idle"), TIMELINE_OK);
  is_called(1, "ignored", "idle");
  /* From here on it follows the system, and keeps its group. */
  CHECK_EQ(pthread_setname_np(pthread_self(), "followed"), 0);
  define();
  is_called(1, "followed", "idle");
  CHECK_EQ(newest(1).tid, tid);
  return NULL;
}

static void *by_the_system(void *unused) {
  (void)unused;
  CHECK_EQ(pthread_setname_np(pthread_self(), "before"), 0);
  timeline_log(tl, event, 2, 0, 0, 0);
  is_called(2, "before", "");
  CHECK_EQ(pthread_setname_np(pthread_self(), "after"), 0);
  define();
  is_called(2, "after", "");
  /* Readers ask the system, too. */
  CHECK_EQ(pthread_setname_np(pthread_self(), "later"), 0);
  is_called(2, "later", "");
  CHECK_EQ(pthread_setname_np(pthread_self(), "at its end"), 0);
  return NULL;
}

/* Names that are too long, empty, no text, or would control a terminal: stored as they are, cut. */
static void *hostile(void *unused) {
  (void)unused;
  timeline_log(tl, event, 3, 0, 0, 0);
  static const struct {
    const char *name, *group, *shown, *shown_group;
  } cases[] = {
      {"1234567890123456789012345678901234567890", "1234567890123456789012345678901234567890",
       "123456789012345678901234567890123456789", "1234567890123456789012345678901"},
      /* An arrow of three bytes would end at byte 40. */
      {"1234567890123456789012345678901234567\xe2\x86\x92", "\xe2\x86\x92",
       "1234567890123456789012345678901234567", "\xe2\x86\x92"},
      {"\x1b[31mred\r\n", "\t", "\x1b[31mred\r\n", "\t"},
      {"\xff", "a\x80", "\xef\xbf\xbd", "a\xef\xbf\xbd"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK_EQ(timeline_thread(tl, cases[i].name, cases[i].group), TIMELINE_OK);
    is_called(3, cases[i].shown, cases[i].shown_group);
  }
  CHECK_EQ(pthread_setname_np(pthread_self(), "hostile"), 0);
  CHECK_EQ(timeline_thread(tl, "", ""), TIMELINE_OK);
  is_called(3, "hostile", "");
  CHECK_EQ(timeline_thread(NULL, "a", "b"), TIMELINE_E_ARGUMENT);
  return NULL;
}

static void run(void *(*f)(void *)) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, f, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
}

/* A child is another thread, with the system's name. */
static void forked(void) {
  CHECK_EQ(timeline_thread(tl, "parent", "family"), TIMELINE_OK);
  timeline_log(tl, event, 4, 0, 0, 0);
  const pid_t child = fork();
  if (child == 0) {
    CHECK_EQ(pthread_setname_np(pthread_self(), "child"), 0);
    timeline_log(tl, event, 5, 0, 0, 0);
    is_called(5, "child", "");
    CHECK_EQ(timeline_thread(tl, "named child", "family"), TIMELINE_OK);
    is_called(5, "named child", "family");
    is_called(4, "parent", "family");
    _exit(0);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  is_called(4, "parent", "family");
  is_called(5, "named child", "family");
}

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 1 << 16, 0, &tl), TIMELINE_OK);
  define();
  run(by_the_program);
  run(by_the_system);
  is_called(2, "at its end", "");
  run(hostile);
  forked();
  timeline_free(tl);
  CHECK_EQ(timeline_unlink(path), TIMELINE_OK);
  puts("names: ok");
  return 0;
}
