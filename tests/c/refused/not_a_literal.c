// expected: error: expected
#include <timeline.h>
void say(timeline_t *tl, const char *format);
void say(timeline_t *tl, const char *format) { TIMELINE_PRINTF(tl, TIMELINE_INFO, format, 1); }
