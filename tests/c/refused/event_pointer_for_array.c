// expected: another type than the message | another_type_than_the_message
#include <timeline.h>
void say(timeline_t *tl);
void say(timeline_t *tl) { int v[3] = {0}; TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "$a $b:i32[]", 1, v); }
