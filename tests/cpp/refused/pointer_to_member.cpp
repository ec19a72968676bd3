// expected: timeline: an argument has a type that is not logged
#include <timeline.hpp>
void f(timeline::ring& tl) { TIMELINE_EVENT(tl, timeline::info, "c", "$a", &std::pair<int, int>::first); }
