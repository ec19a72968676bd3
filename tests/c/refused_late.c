// Statements whose mistake no compiler sees: each event that they lose is counted, and the timeline says why, once.
// refused_late DIR: an empty directory.
#include <timeline.h>

#include "check.h"

static int told = 0;

/* Counts what the timeline says of statements, and checks that it names a line and a reason. */
static int count(const char *path, const char *reason) {
  timeline_attached_t *at = NULL;
  timeline_cursor_t *cursor = NULL;
  timeline_event_t event;
  int found = 0;
  CHECK(timeline_attach(path, &at) == TIMELINE_OK);
  CHECK(timeline_events(at, TIMELINE_OLDEST_FIRST, &cursor) == TIMELINE_OK);
  while (timeline_next(cursor, &event) == TIMELINE_OK) {
    char text[2048];
    CHECK(timeline_render(&event, text, sizeof text, NULL) == TIMELINE_OK);
    CHECK(strcmp(event.category, "timeline") == 0 && event.priority == TIMELINE_ERROR);
    CHECK(strstr(text, "refused_late.c:"));
    if (strstr(text, reason)) found++;
  }
  timeline_cursor_free(cursor);
  timeline_attached_free(at);
  return found;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  char path[512];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  timeline_t *tl = NULL;
  CHECK(timeline_new(path, 4096, 0, &tl) == TIMELINE_OK);
  for (int n = 0; n < 3; n++) {
    /* Behind a `$` without a name, no compiler looks on. */
    TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "a cost of $ 5 and $load:f64", n);
    TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "a cost of $ 5 and $a and $b", n);
    TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "$a:enum(red)", n);
    TIMELINE_EVENT(tl, TIMELINE_INFO, "two\nlines", "$a", n);
    TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "$a is no name", n);
#undef TIMELINE_CHANNELS
#define TIMELINE_CHANNELS "a,b"
    TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "$a on bad channels", n);
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "%d on bad channels", n);
#undef TIMELINE_CHANNELS
#define TIMELINE_CHANNELS NULL
  }
  CHECK_EQ(count(path, "has type f64"), 1);
  CHECK_EQ(count(path, "2 arguments"), 1);
  CHECK_EQ(count(path, "enum(red)"), 1);
  CHECK_EQ(count(path, "two"), 1);
  CHECK_EQ(count(path, "span"), 2); /* its begin and its end */
  CHECK_EQ(count(path, "channel"), 2);
  CHECK_EQ(count(path, ""), 8);
  /* What the level leaves out is not lost. */
  CHECK(timeline_priority(tl, TIMELINE_ERROR) == TIMELINE_OK);
  TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "not lost, for $ 5 and $load:f64", told);
  timeline_free(tl);
  puts("refused_late: ok");
  return 0;
}
