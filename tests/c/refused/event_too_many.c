// expected: more arguments | more_arguments
#include <timeline.h>
void say(timeline_t *tl);
void say(timeline_t *tl) { TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "$a for $5\nprose of $c", 1, 2, 3); }
