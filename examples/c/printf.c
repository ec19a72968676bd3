/* A program that logs with formats of printf: it adds up amounts, and aborts at a bad one.
 *
 *   printf NAME < FILE
 *
 * Makes the timeline NAME ("/timeline"). FILE has lines like `alice 12.50`. After it has aborted,
 * its events and the call stack of the failure are still there:
 *
 *   timeline dump NAME        timeline record NAME -o crash.tla
 *
 * Build: cc -g printf.c $(pkg-config --cflags --libs timeline)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMELINE_CATEGORY "accounts"
#include <timeline.h>

enum { ENTRIES = 64 * 1024 };

static timeline_t *tl;

static double amount_of(const char *text) {
  char *end;
  const double amount = strtod(text, &end);
  if (end == text || *end) {
    TIMELINE_BACKTRACE(tl, TIMELINE_ERROR, "no amount: \"%s\", bad from byte %td on", text, end - text);
    abort();
  }
  return amount;
}

static void book(unsigned number, char *line, double *sum) {
  char *const space = strchr(line, ' ');
  if (!space) {
    TIMELINE_PRINTF(tl, TIMELINE_WARNING, "line %u: expected a name and an amount, got \"%s\"", number, line);
    return;
  }
  const int name = (int)(space - line);
  TIMELINE_PRINTF(tl, TIMELINE_TRACE, "line %u: of %.*s", number, name, line);
  *sum += amount_of(space + 1);
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "line %u: %-8.*s sum %10.2f", number, name, line, *sum);
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "/timeline";
  if (timeline_new(name, ENTRIES, 0, &tl) != TIMELINE_OK) {
    fprintf(stderr, "printf: cannot make the timeline: %s\n", timeline_last_error());
    return 1;
  }
  char line[4096];
  double sum = 0;
  for (unsigned number = 1; fgets(line, sizeof line, stdin); number++) {
    line[strcspn(line, "\n")] = 0;
    book(number, line, &sum);
  }
  printf("%.2f\n", sum);
  timeline_free(tl);
  return 0;
}
