// expected: fewer arguments | fewer_arguments
#include <timeline.h>
void say(timeline_t *tl);
void say(timeline_t *tl) { TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "$a and $b:str of $c", 1, "two"); }
