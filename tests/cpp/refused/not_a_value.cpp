// expected: timeline_tag_
#include <timeline.hpp>
struct mine {};
void f(timeline::ring& tl) { TIMELINE_EVENT(tl, timeline::info, "c", "$a", mine()); }
