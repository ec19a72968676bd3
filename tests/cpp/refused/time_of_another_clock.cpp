// expected: timeline: the time of a clock other than system_clock
#include <timeline.hpp>
void f(timeline::ring& tl) { TIMELINE_EVENT(tl, timeline::info, "c", "$a", std::chrono::steady_clock::now()); }
