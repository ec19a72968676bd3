// expected: timeline: the message names a type that there is not
#include <timeline.hpp>

struct sent {
  static constexpr auto event = timeline::declared("c", timeline::info, "sent $size:uint");
  int size;
};
void run(const timeline::ring& tl) { tl.log(sent{1}); }
