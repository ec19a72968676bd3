// expected: timeline_span_ | declaration
#include <timeline.h>
void say(timeline_t *tl, int x);
void say(timeline_t *tl, int x) { if (x) TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "breath $x", x); }
