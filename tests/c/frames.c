/* A function of many statements needs hardly more stack than one of none, however it is compiled: no payload is in
 * its frame. It runs on a stack of 64 KiB. Also C++. frames DIR MOST: the most bytes of its frame. */
#ifndef _GNU_SOURCE /* C++ has it already */
#define _GNU_SOURCE
#endif
#include <pthread.h>

#include <timeline.h>

#include "check.h"

static timeline_t *tl;
static const char *inner;
static int order[3], ordered;

/* Where the stack of its caller ends. */
static __attribute__((noinline)) void note(void) { inner = (const char *)__builtin_frame_address(0); }

static __attribute__((noinline)) int next(int place) {
  if (ordered < 3) order[ordered++] = place;
  return place;
}

#define ONE(n)                                                                             \
  case n:                                                                                  \
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "number %d of %s, %s, %ld", i, text, text, 1L * n); \
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "number %d: %d", n, i);                             \
    TIMELINE_EVENT(tl, TIMELINE_INFO, "frames", "number $i of $text", i, text);            \
    break;
#define TEN(n) \
  ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)

static __attribute__((noinline)) void say(int i, const char *text) {
  note();
  switch (i) {
    TEN(1)
    TEN(2)
    TEN(3)
    TEN(4)
    TEN(5)
    default:
      break;
  }
}

static size_t frame;

static __attribute__((noinline)) void *work(void *unused) {
  const char *const outer = (const char *)__builtin_frame_address(0);
  for (int i = 10; i < 60; i++) say(i, i % 2 ? "a text that is longer than what is called short, by far" : "short");
  frame = (size_t)(outer - inner);
  return unused;
}

int main(int argc, char **argv) {
  char path[4096], text[256], wanted[256];
  CHECK(argc == 3);
  snprintf(path, sizeof path, "%.4000s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 4096, 0, &tl), TIMELINE_OK);
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK_EQ(pthread_attr_init(&attributes), 0);
  CHECK_EQ(pthread_attr_setstacksize(&attributes, 64 << 10), 0);
  CHECK_EQ(pthread_create(&thread, &attributes, work, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  if (frame > strtoul(argv[2], NULL, 10)) {
    fprintf(stderr, "150 statements take %zu bytes of stack, expected at most %s\n", frame, argv[2]);
    return 1;
  }

  timeline_attached_t *at = NULL;
  timeline_cursor_t *cursor = NULL;
  timeline_event_t event;
  CHECK_EQ(timeline_attach(path, &at), TIMELINE_OK);
  CHECK_EQ(timeline_events(at, TIMELINE_OLDEST_FIRST, &cursor), TIMELINE_OK);
  for (int i = 10; i < 60; i++) {
    const char *const said = i % 2 ? "a text that is longer than what is called short, by far" : "short";
    for (int kind = 0; kind < 3; kind++) {
      CHECK_EQ(timeline_next(cursor, &event), TIMELINE_OK);
      CHECK_EQ(timeline_render(&event, text, sizeof text, NULL), TIMELINE_OK);
      if (kind == 0) snprintf(wanted, sizeof wanted, "number %d of %s, %s, %d", i, said, said, i);
      if (kind == 1) snprintf(wanted, sizeof wanted, "number %d: %d", i, i);
      if (kind == 2) snprintf(wanted, sizeof wanted, "number i(%d) of text(%s)", i, said);
      CHECK(strcmp(text, wanted) == 0);
    }
  }
  timeline_cursor_free(cursor);
  timeline_attached_free(at);
#ifndef __cplusplus
  /* In C, arguments are evaluated in their order. */
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%d %s %d", next(1), next(2) ? "text" : "", next(3));
  CHECK(order[0] == 1 && order[1] == 2 && order[2] == 3);
#else
  (void)next;
#endif
  timeline_free(tl);
  CHECK_EQ(timeline_unlink(path), TIMELINE_OK);
  puts("frames: ok");
  return 0;
}
