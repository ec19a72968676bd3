/* Texts of each length about those that are short, at each alignment and at the end of their memory, in each place
 * among others: all are read as snprintf writes them. Also C++. short_texts DIR */
#ifndef _GNU_SOURCE /* C++ has it already */
#define _GNU_SOURCE
#endif
#include <sys/mman.h>

#include <timeline.h>

#include "check.h"

enum { PAGE = 4096, LONGEST = 50 };

static timeline_t *tl;
static timeline_cursor_t *cursor;
static char wanted[1024];

static void check(void) {
  timeline_event_t event;
  char text[1024];
  CHECK_EQ(timeline_next(cursor, &event), TIMELINE_OK);
  CHECK_EQ(timeline_render(&event, text, sizeof text, NULL), TIMELINE_OK);
  if (strcmp(text, wanted) != 0) {
    fprintf(stderr, "logged: %s\nwanted: %s\n", text, wanted);
    exit(1);
  }
}

#define SAY(...)                                      \
  do {                                                \
    TIMELINE_PRINTF(tl, TIMELINE_INFO, __VA_ARGS__);  \
    snprintf(wanted, sizeof wanted, __VA_ARGS__);     \
    check();                                          \
  } while (0)

static void texts(const char *a, const char *b, int i, double d) {
  SAY("%s", a);
  SAY("%d %s %.2f", i, a, d);
  SAY("%s|%s", a, b);
  SAY("%s|%d|%s|%s", b, i, a, b);
  SAY("%s%s%s%s%s%s%s%s", a, b, a, b, a, b, a, b);
  SAY("%s%s%s%s%s%s%s%s%s", a, b, a, b, a, b, a, b, a);
  SAY("%d%d%d%d%d%d%d%s", i, i, i, i, i, i, i, a);
  SAY("%.3s|%s|%*s", a, b, i % 7, a);
  TIMELINE_EVENT(tl, TIMELINE_INFO, "texts", "$a $i $b", a, i, b);
  snprintf(wanted, sizeof wanted, "a(%s) i(%d) b(%s)", a, i, b);
  check();
  /* The address of a text, not what is there. */
  SAY("%p %s", (const void *)a, b);
  TIMELINE_SPAN(tl, TIMELINE_INFO, "texts", "span $a $i", a, i);
  snprintf(wanted, sizeof wanted, "begin span a(%s) i(%d)", a, i);
  check();
}

int main(int argc, char **argv) {
  char path[4096];
  CHECK(argc == 2);
  snprintf(path, sizeof path, "%.4000s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 1 << 16, 0, &tl), TIMELINE_OK);
  timeline_attached_t *at = NULL;
  CHECK_EQ(timeline_attach(path, &at), TIMELINE_OK);
  CHECK_EQ(timeline_follow(at, TIMELINE_FROM_OLDEST, &cursor), TIMELINE_OK);
  char *const pages = (char *)mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED);
  CHECK_EQ(mprotect(pages + PAGE, PAGE, PROT_NONE), 0);
  for (int length = 0; length < LONGEST; length++) {
    for (int before = 0; before < 17; before++) {
      /* The NUL is the last byte that can be read, or so many before it. */
      char *const text = pages + PAGE - 1 - length - before;
      memset(pages, 'x', PAGE);
      for (int i = 0; i < length; i++) text[i] = (char)('a' + (i + length) % 26);
      text[length] = 0;
      texts(text, before % 3 ? "b" : "a text of 31 bytes, no byte more", length * 17 + before, length / 8.0);
      timeline_event_t end;
      CHECK_EQ(timeline_next(cursor, &end), TIMELINE_OK);
    }
  }
  const char *const none = NULL;
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%d %s %s", 1, "x", none);
  snprintf(wanted, sizeof wanted, "1 x (null)");
  check();
  timeline_cursor_free(cursor);
  timeline_attached_free(at);
  timeline_free(tl);
  CHECK_EQ(timeline_unlink(path), TIMELINE_OK);
  puts("short_texts: ok");
  return 0;
}
