/* Logs a call stack, and waits: stale_names RING. The function that logs has the name NAME.
 * With NOTHING, a handler logs it after a call through a null pointer. */
#define _GNU_SOURCE
#include <signal.h>
#include <unistd.h>

#include <timeline.h>

#include "check.h"

#define NOINLINE __attribute__((noinline))

static timeline_t *tl;
static volatile int calls;

NOINLINE static void logs(void) {
  TIMELINE_BACKTRACE(tl, TIMELINE_ERROR, "here");
  calls++; /* Not a tail call. */
}

#ifdef NOTHING
static void (*volatile nothing)(void);

static void handler(int number) {
  (void)number;
  logs();
  _exit(0);
}

NOINLINE static void NAME(void) {
  CHECK(signal(SIGSEGV, handler) != SIG_ERR);
  nothing();
  calls++;
}
#else
NOINLINE static void NAME(void) {
  logs();
  calls++;
}
#endif

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  CHECK_EQ(timeline_new(argv[1], 1024, 64 * 1024, &tl), TIMELINE_OK);
  NAME();
  puts("logged");
  fflush(stdout);
  (void)!getchar();
  _exit(0); /* As if it were killed. */
}
