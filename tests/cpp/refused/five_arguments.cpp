// expected: a message has at most four $arguments
#include <timeline.hpp>
void f(timeline::ring& tl) { TIMELINE_EVENT(tl, "c", timeline::info, "$a $b $c $d $e", 1, 2, 3, 4, 5); }
