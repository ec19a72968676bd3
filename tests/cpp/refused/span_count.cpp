// expected: the call has another number of arguments than the message has $arguments
#include <timeline.hpp>

void run(const timeline::span_events<2>& breath) { const auto begun = breath(1); }
