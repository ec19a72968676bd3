/* Logs a call stack, and prints the lines of its calls: tests/ffi/lines.rs. lines DIR */
#include <stdio.h>

#include <timeline.h>

#include "check.h"

#define NOINLINE __attribute__((noinline))

static timeline_t *tl;
static int at[4], calls;

/* Not tail calls, so that each has a frame. */
NOINLINE static int inner(int number) {
  at[0] = __LINE__; TIMELINE_BACKTRACE(tl, TIMELINE_ERROR, "bad block %d", number);
  return number + 1;
}
NOINLINE static int outer(int number) {
  at[1] = __LINE__; number = inner(number);
  return number + 1;
}

/* Behind the call comes an instruction of another line. */
NOINLINE static void silent(int number) {
  at[2] = __LINE__; outer(number);
  calls++;
}

int main(int argc, char **argv) {
  char path[512];
  CHECK(argc == 2);
  CHECK(snprintf(path, sizeof path, "%s/ring", argv[1]) < (int)sizeof path);
  CHECK_EQ(timeline_new(path, 1024, 0, &tl), TIMELINE_OK);
  at[3] = __LINE__; silent(7);
  CHECK_EQ(calls, 1);
  timeline_free(tl);
  printf("%d %d %d %d\n", at[0], at[1], at[2], at[3]);
  return 0;
}
