// expected: non-constant condition
#include <timeline.hpp>
void f(timeline::ring& tl, const char* message) { TIMELINE_EVENT(tl, timeline::info, "c", message, 1); }
