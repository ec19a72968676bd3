/* Call stacks in signal handlers that are not recognisable: built without unwind tables, so that a
 * walk over the stack ends there. printf_handler DIR LIBRARY: LIBRARY is loaded and unloaded all
 * the time.
 *
 * Leaves DIR/ring. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include <timeline.h>

#include "check.h"

enum { ENOUGH = 3000 };

static timeline_t *tl;
static volatile sig_atomic_t handled;

static void handler(int signal) {
  TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "signal %d", signal);
  handled++;
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  char path[512];
  snprintf(path, sizeof path, "%s/ring", argv[1]);
  CHECK_EQ(timeline_new(path, 65536, 0, &tl), TIMELINE_OK);
  handler(0); /* So that it is defined by now. */
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  for (size_t opens = 0; handled < ENOUGH; opens++) {
    void *library = dlopen(argv[2], RTLD_NOW);
    CHECK(library != NULL);
    CHECK_EQ(dlclose(library), 0);
    free(malloc(opens % 3000));
  }
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
  puts("printf_handler: ok");
  return 0;
}
