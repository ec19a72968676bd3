// expected: another type than the message | another_type_than_the_message
#include <timeline.h>
void say(timeline_t *tl);
void say(timeline_t *tl) { TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "$a:enum(x=1) to $b:u8", 1, "x"); }
