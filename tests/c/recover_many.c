/* Logs statements of many arguments. recover_many NAME: the timeline to make, which stays. */
#include <timeline.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK_EQ(argc, 2);
  timeline_t *tl;
  CHECK_EQ(timeline_new(argv[1], 4096, 0, &tl), TIMELINE_OK);
  const long n = 17;
  for (int i = 0; i < 3; i++) {
    const unsigned u = (unsigned)i;
    TIMELINE_EVENT(tl, TIMELINE_INFO, "many", "nine: $a $b $c $d $e $f $g $h $i", i, i, i, i, i, i, i, i, i);
    TIMELINE_EVENT(tl, TIMELINE_INFO, "many", "ten: $a $b $c $d $e $f $g $h $i $j", u, u, u, u, u, u, u, u, u, u);
    TIMELINE_EVENT(tl, TIMELINE_INFO, "many", "mixed: $a $b $c $d $e $f $g $h $i $j", n, i, i, i, u, 0.5, i, n, i, i);
    TIMELINE_EVENT(tl, TIMELINE_INFO, "many", "texts: $a $b $c $d $e $f $g $h $i $j $k", "a", "b", "c", "d", "e",
                   "f", "g", "h", "i", "j", "k");
    TIMELINE_EVENT(tl, TIMELINE_INFO, "many", "fourteen: $a $b $c $d $e $f $g $h $i $j $k $l $m $n", i, i, i, i, i, i,
                   i, i, i, i, i, i, i, i);
    TIMELINE_EVENT(tl, TIMELINE_INFO, "many", "but one: $a $b $c $d $e $f $g $h $i $j $k $l $m $n", i, i, i, i, i, i,
                   i, i, i, (short)i, i, i, i, i);
    TIMELINE_EVENT(tl, TIMELINE_INFO, "many", "four: $a, $b, $c, $d", (char)i, (short)i, u, n);
  }
  timeline_free(tl);
  puts("ok");
  return 0;
}
