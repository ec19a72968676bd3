// expected: timeline: the call has another number of arguments than the message has $arguments
#include <timeline.hpp>

struct sent {
  static constexpr auto event = timeline::declared("c", timeline::info, "sent $size to $host");
  int size;
};
void run(const timeline::ring& tl) { tl.log(sent{1}); }
