// expected: private
#include <timeline.hpp>

void run(const timeline::span_events<>& breath) {
  const auto begun = breath(1);
  const auto other = begun;
}
