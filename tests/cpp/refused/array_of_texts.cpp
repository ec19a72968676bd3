// expected: timeline: an array is logged if its elements are numbers
#include <timeline.hpp>
void f(timeline::ring& tl, const char* (&names)[3]) { TIMELINE_EVENT(tl, timeline::info, "c", "$a", names); }
