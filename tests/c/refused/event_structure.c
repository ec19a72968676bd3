// expected: pointer | incompatible type
#include <timeline.h>
void say(timeline_t *tl, timeline_attributes_t x);
void say(timeline_t *tl, timeline_attributes_t x) { TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "of $it", x); }
