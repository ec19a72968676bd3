// expected: timeline: a declared event is a plain struct
#include <timeline.hpp>

struct sent {
  static constexpr auto event = timeline::declared("c", timeline::info, "sent $size");
  explicit sent(int n) : size(n) {}
  int size;
};
void run(const timeline::ring& tl) { tl.log(sent(1)); }
