// expected: constant expression
#include <timeline.hpp>
void f(timeline::ring& tl, const char* message) { TIMELINE_EVENT(tl, "c", timeline::info, message, 1); }
