// expected: an argument has another type than the message gives it
#include <timeline.hpp>

void run(const timeline::ring& tl) { TIMELINE_SPAN(tl, timeline::info, "c", "breath $a:str", 1); }
