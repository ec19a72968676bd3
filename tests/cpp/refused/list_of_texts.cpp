// expected: timeline: a container is logged if its elements are numbers
#include <timeline.hpp>
void f(timeline::ring& tl) { TIMELINE_EVENT(tl, timeline::info, "c", "$a", std::vector<std::string>()); }
