// expected: format
#include <timeline.hpp>
#pragma GCC diagnostic error "-Wformat"
void f(timeline::ring& tl, const std::string& name) { TIMELINE_PRINTF(tl, timeline::info, "took %s", name); }
