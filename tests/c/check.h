/* CHECK: an assertion that holds in every build and says what was there. */
#ifndef CHECK_H
#define CHECK_H
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                            \
  do {                                                                                              \
    if (!(condition)) {                                                                             \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                      \
      fprintf(stderr, "  the last error: %s\n", timeline_last_error());                             \
      exit(1);                                                                                      \
    }                                                                                               \
  } while (0)

#define CHECK_EQ(got, expected)                                                                     \
  do {                                                                                              \
    const long long got_ = (long long)(got), expected_ = (long long)(expected);                     \
    if (got_ != expected_) {                                                                        \
      fprintf(stderr, "%s:%d: %s is %lld, expected %s, %lld\n", __FILE__, __LINE__, #got, got_,     \
              #expected, expected_);                                                                \
      fprintf(stderr, "  the last error: %s\n", timeline_last_error());                             \
      exit(1);                                                                                      \
    }                                                                                               \
  } while (0)

/* The call fails with this status, and its message mentions this. */
#define CHECK_FAILS(call, status, mention)                                                          \
  do {                                                                                              \
    CHECK_EQ(call, status);                                                                         \
    if (!strstr(timeline_last_error(), mention)) {                                                  \
      fprintf(stderr, "%s:%d: after %s, \"%s\" does not mention \"%s\"\n", __FILE__, __LINE__,      \
              #call, timeline_last_error(), mention);                                               \
      exit(1);                                                                                      \
    }                                                                                               \
  } while (0)

#endif
