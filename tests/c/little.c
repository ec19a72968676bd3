/* little NAME: makes a timeline without saying how large, and with a size that does not fit where the default does not. */

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
