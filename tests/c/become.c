/* Logs its own path, and becomes the program that is named. become NAME [PROGRAM]: ends without leaving, as one that is
 * killed. */
#include <timeline.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK(argc == 2 || argc == 3);
  timeline_t *tl;
  CHECK_EQ(timeline_open(argv[1], &tl), TIMELINE_OK);
  TIMELINE_EVENT(tl, TIMELINE_INFO, "become", "this is $path", argv[0]);
  if (argc == 3) {
    execl(argv[2], argv[2], argv[1], (char *)NULL);
    CHECK(0);
  }
  _exit(0);
}
