// expected: error: format
#include <timeline.h>
void say(timeline_t *tl, int64_t bytes);
void say(timeline_t *tl, int64_t bytes) { TIMELINE_PRINTF(tl, TIMELINE_INFO, "%d bytes", bytes); }
