/* little NAME: a timeline of 1,048,576 entries does not fit; without a number, a smaller one is
 * made. */

#include <stdio.h>

#include "check.h"
#include "timeline.h"

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  timeline_t *tl;
  CHECK_EQ(timeline_new(argv[1], 1 << 20, 0, &tl), TIMELINE_E_NO_SPACE);
  CHECK_EQ(timeline_new(argv[1], 0, 0, &tl), TIMELINE_OK);
  uint32_t event;
  CHECK_EQ(timeline_define(tl, "test", TIMELINE_INFO, "little", &event), TIMELINE_OK);
  timeline_log(tl, event, 0, 0, 0, 0);
  timeline_free(tl);
  puts("little: ok");
  return 0;
}
