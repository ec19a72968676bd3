// expected: fewer arguments | fewer_arguments
#include <timeline.h>
void say(timeline_t *tl);
void say(timeline_t *tl) { TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "breath $a and $b", 1); }
