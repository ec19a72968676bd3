// expected: timeline: the members of a declared event cannot be counted
#include <timeline.hpp>

struct sent {
  static constexpr auto event = timeline::declared("c", timeline::info, "sent $size");
  int& size;
};
void run(const timeline::ring& tl, int& size) { tl.log(sent{size}); }
