// expected: an event has at most four arguments
#include <timeline.hpp>
void f(const timeline::tracepoint<>& event) { event(1, 2, 3, 4, 5); }
