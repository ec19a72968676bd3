// expected: a type that there is not | a_type_that_there_is_not
#include <timeline.h>
void say(timeline_t *tl);
void say(timeline_t *tl) { TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "turn $a:str[]", "x"); }
