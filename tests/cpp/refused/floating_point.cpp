// expected: an argument is a whole number of at most 64 bits
#include <timeline.hpp>
void f(const timeline::tracepoint<>& event) { event(0.5); }
