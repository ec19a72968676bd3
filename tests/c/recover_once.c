/* Logs each statement once, so that an archive has no two events of one: values stand in their payloads.
 * recover_once NAME: the timeline to make, which stays. */
#include <stdbool.h>
#include <wchar.h>

#include <timeline.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  timeline_t *tl;
  CHECK_EQ(timeline_new(argv[1], 4096, 0, &tl), TIMELINE_OK);
  static const unsigned char bytes[4] = {1, 2, 3, 4};
  const unsigned long size = 17;
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "sent $size to $host", 1536, "eth0");
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "sent $size to $host, load $load", 1536, "eth0", 0.25);
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "found $host", "eth0");
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "load $load of $host", 0.25, "eth0");
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "load $load of $count", 0.25, 17);
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "copied $size of $file", size, "abc");
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "five: $a $b $c $d $e", size, 1, 2, 3, 4u);
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "six: $a $b $c $d $e $f", size, 1, 2, 3, 4u, 0.5);
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "from $a to $b", "x", "y");
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "interned $a:istr and $b", "x", "y");
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "bytes $a", TIMELINE_ARRAY(bytes, 4));
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "wide $a", L"wide");
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "is $a as $b", (bool)1, (const char *)0);
  TIMELINE_EVENT(tl, TIMELINE_INFO, "net", "nothing");
  timeline_free(tl);
  puts("ok");
  return 0;
}
