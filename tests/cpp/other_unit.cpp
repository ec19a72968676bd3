// The second translation unit of face.cpp.
#include "other_unit.hpp"

void log_from_other_unit(const timeline::ring& tl, int i) {
  log_inline(tl, i);
  TIMELINE_EVENT(tl, timeline::info, "other", "other $i", i);
}
