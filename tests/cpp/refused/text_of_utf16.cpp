// expected: timeline: a text of char16_t or char32_t is not logged
#include <timeline.hpp>
void f(timeline::ring& tl) { TIMELINE_EVENT(tl, timeline::info, "c", "$a", u"text"); }
