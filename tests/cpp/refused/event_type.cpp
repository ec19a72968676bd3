// expected: timeline: an argument has another type than the message gives it
#include <timeline.hpp>

void run(const timeline::ring& tl) { TIMELINE_EVENT(tl, timeline::info, "c", "$a $b:f64", 1, 2); }
