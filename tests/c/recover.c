/* Logs with every kind of statement, so that all kinds of texts are in an archive. recover NAME [COUNT]: the
 * timeline to make, which stays, and how often each logs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>

#include <timeline.h>

#include "check.h"

static timeline_t *tl;

#define NOINLINE __attribute__((noinline))

NOINLINE static int inner(int number) {
  TIMELINE_BACKTRACE(tl, TIMELINE_ERROR, "bad block %u of %s", (unsigned)number, "a file");
  return number + 1;
}
NOINLINE static int outer(int number) { return inner(number) + 1; }

static void *worker(void *unused) {
  CHECK_EQ(pthread_setname_np(pthread_self(), "downloader"), 0);
  TIMELINE_PRINTF(tl, TIMELINE_WARNING, "retry %d of %s", 3, "a download");
  return unused;
}

int main(int argc, char **argv) {
  CHECK(argc == 2 || argc == 3);
  const int count = argc == 3 ? atoi(argv[2]) : 20;
  CHECK_EQ(timeline_new(argv[1], 4096, 0, &tl), TIMELINE_OK);
  CHECK_EQ(timeline_channel(tl, "network", true), TIMELINE_OK);
  CHECK_EQ(timeline_channel(tl, "storage", true), TIMELINE_OK);
  uint32_t plain;
  CHECK_EQ(timeline_define(tl, "example", TIMELINE_INFO, "processed $tcp, $udp, and $other", &plain), TIMELINE_OK);
  for (int i = 0; i < count; i++) {
    timeline_log(tl, plain, (uint64_t)i, 20, 3, 0);
    const char *host = i % 2 ? "a" : "b";
    const bool good = i % 3;
    TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "sent $size to $host", i, host);
    TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "round trip of $time, $share, $good", (uint64_t)i, i / 2.0, good);
    TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "got $a:u8, $b, $c and $d", i, (short)i, (unsigned)i, (long)i);
    TIMELINE_EVENT(tl, TIMELINE_INFO, "disk", "wrote $bytes:bytes as $mode:enum(plain=0,sync=1)", i, i % 2);
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "took %d ms for %s, %5.1f %%", i, host, i / 3.0);
#undef TIMELINE_CHANNELS
#define TIMELINE_CHANNELS "storage|network=on"
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "with channels: %d", i);
#undef TIMELINE_CHANNELS
#define TIMELINE_CHANNELS 0
    /* The end of a text above, which a linker puts in its place. */
    TIMELINE_PRINTF(tl, TIMELINE_INFO, "channels: %d", i);
    TIMELINE_SPAN(tl, TIMELINE_INFO, "engine", "breath $packets", i);
    CHECK_EQ(outer(i), i + 2);
  }
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, worker, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  timeline_free(tl);
  puts("ok");
  return 0;
}
