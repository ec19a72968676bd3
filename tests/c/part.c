/* A program and a library that log. With PART the library; else the program: part NAME, the timeline to make, which
 * stays. */
#include <timeline.h>

#include "check.h"

void part(timeline_t *tl, int number);

#ifdef PART
void part(timeline_t *tl, int number) {
  TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "only in the library: %d", number);
}
#else
int main(int argc, char **argv) {
  CHECK(argc == 2);
  timeline_t *tl;
  CHECK_EQ(timeline_new(argv[1], 4096, 0, &tl), TIMELINE_OK);
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "in the program: %d", 1);
  for (int i = 0; i < 3; i++) part(tl, i);
  timeline_free(tl);
  return 0;
}
#endif
