// expected: timeline: an argument has another type than the message gives it
#include <timeline.hpp>

struct sent {
  static constexpr auto event = timeline::declared("c", timeline::info, "sent $size:u32");
  const char* size;
};
void run(const timeline::ring& tl) { tl.log(sent{"1"}); }
