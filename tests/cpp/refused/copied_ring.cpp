// expected: deleted
#include <timeline.hpp>
timeline::ring f(const timeline::ring& tl) { return tl; }
