// expected: no match for call
#include <timeline.hpp>

void run(const timeline::ring& tl) { tl.define<int, double>("c", timeline::info, "$a $b")(1); }
