// expected: error: format | error: more '%' conversions
#include <timeline.h>
void say(timeline_t *tl);
void say(timeline_t *tl) { TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "took %d ms for %s", 1); }
