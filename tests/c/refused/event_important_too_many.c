// expected: more arguments | more_arguments
#include <timeline.h>
void say(timeline_t *tl);
void say(timeline_t *tl) { TIMELINE_IMPORTANT_EVENT(tl, TIMELINE_INFO, "c", "$a\nof $b", 1, 2); }
