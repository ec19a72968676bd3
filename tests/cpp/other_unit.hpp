// Call sites in a second translation unit, and in a header that both include.
#ifndef OTHER_UNIT_HPP
#define OTHER_UNIT_HPP

#include <timeline.hpp>

inline void log_inline(const timeline::ring& tl, int i) {
  TIMELINE_EVENT(tl, timeline::info, "inline", "inline $i", i);
}
void log_from_other_unit(const timeline::ring& tl, int i);

#endif
