// expected: an_event_takes_no_long_double
#include <timeline.h>
void say(timeline_t *tl);
void say(timeline_t *tl) { TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "took $seconds", 1.0L); }
