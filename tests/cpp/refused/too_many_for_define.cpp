// expected: the call has another number of arguments than the message has $arguments
#include <timeline.hpp>
void f(timeline::ring& tl) { TIMELINE_DEFINE(tl, "c", timeline::info, "$a and $b")(1, 2, 3); }
