/* Joins a timeline that another program has made, and logs to it as long as it is told to. second NAME: says "in" once
 * it has logged, and ends with its standard input. */
#include <timeline.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK(argc == 2);
  timeline_t *tl;
  CHECK_EQ(timeline_open(argv[1], &tl), TIMELINE_OK);
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "from the second program: %d", 2);
  puts("in");
  fflush(stdout);
  CHECK_EQ(getchar(), EOF);
  timeline_free(tl);
  return 0;
}
