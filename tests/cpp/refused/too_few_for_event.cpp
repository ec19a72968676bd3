// expected: the call has another number of arguments than the message has $arguments
#include <timeline.hpp>
void f(timeline::ring& tl) { TIMELINE_EVENT(tl, timeline::info, "c", "$a and $b", 1); }
