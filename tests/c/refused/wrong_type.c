// expected: error: format
#include <timeline.h>
void say(timeline_t *tl);
void say(timeline_t *tl) { TIMELINE_PRINTF(tl, TIMELINE_INFO, "took %d ms", "long"); }
