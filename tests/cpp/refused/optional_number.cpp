// expected: timeline: an optional is logged if it is of a text or an array
#include <timeline.hpp>
void f(timeline::ring& tl) { TIMELINE_EVENT(tl, timeline::info, "c", "$a", std::optional<int>(1)); }
