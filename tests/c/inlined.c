/* Logs a call stack in which functions stand in others, that compilers are told to inline: tests/ffi/lines. C and C++.
 * The comments are the names that lines have in the test. inlined DIR leaves DIR/ring. */
#include <timeline.h>

#include "check.h"

#define NOINLINE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

static timeline_t *tl;
/* So that no call is the last of its function, and no compiler knows what a function does. */
static volatile int after;

NOINLINE static void statement(int number) {
  TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "number %d", number); /* statement */
  after++;
}

/* A name that only C++ has to spell out. */
#ifdef __cplusplus
#define BEGIN namespace deep { template <typename number_t>
#define END } using deep::innermost;
#else
typedef int number_t;
#define BEGIN
#define END
#endif

BEGIN INLINE void innermost(number_t number) {
  statement(number); /* innermost */
  after++;
}
END

INLINE void between(int number) {
  if (number == 1) after++;
  {
    int more = number + after;
    innermost(more + 1); /* between */
  }
  after++;
}

NOINLINE static void outer(int number) {
  between(number + 1); /* outer */
  after++;
}

int main(int argc, char **argv) {
  char path[4096];
  CHECK(argc == 2);
  CHECK(snprintf(path, sizeof path, "%s/ring", argv[1]) < (int)sizeof path);
  CHECK_EQ(timeline_new(path, 4096, 0, &tl), TIMELINE_OK);
  outer(argc + after); /* main */
  timeline_free(tl);
  puts("inlined: ok");
  return 0;
}
