// expected: timeline: an argument has a type that is not logged
#include <timeline.hpp>
struct mine {};
void f(timeline::ring& tl) { TIMELINE_EVENT(tl, timeline::info, "c", "$a", mine()); }
