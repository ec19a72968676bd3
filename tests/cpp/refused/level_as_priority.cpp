// expected: priority
#include <timeline.hpp>
void f(timeline::ring& tl) { tl.define("c", timeline::all, "message"); }
