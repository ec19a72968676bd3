// Every statement, for a compiler that warns of whatever it can: only timeline.h, or timeline.hpp with STRICT_HPP.
#ifdef STRICT_HPP
#include <timeline.hpp>
#else
#include <timeline.h>
#endif

int run(timeline_t* tl, int n, const char* s, void* p);
int run(timeline_t* tl, int n, const char* s, void* p) {
  TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "$a $b $c $d $e $f $g $h $i", n, s, p, 1.5, 1.5f, 'c', 5u, 7ull, 3l);
  TIMELINE_IMPORTANT_EVENT(tl, TIMELINE_INFO, "c", "$a $b", n, s);
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "%d %s %p %f %ld %lld %zu %c %ls", n, s, p, 1.5, 5l, 6ll, sizeof n, 'c', L"x");
  TIMELINE_PRINTF(tl, TIMELINE_INFO, "");
  TIMELINE_BACKTRACE(tl, TIMELINE_INFO, "%d", n);
  TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "breath $a $b", n, s);
  const int numbers[] = {1, 2};
  TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "$a $b $c", numbers, TIMELINE_ARRAY(numbers, 2), TIMELINE_TEXT(s, 1));
  // Statements in arguments of statements, and in lambdas of lambdas.
  const auto inner = [&] {
    TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "$a", [&] {
      TIMELINE_PRINTF(tl, TIMELINE_INFO, "%d", [&] {
        TIMELINE_EVENT(tl, TIMELINE_INFO, "c", "$a", n);
        TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "breath $a", n);
        return 1;
      }());
      return 1;
    }());
    TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "breath $a", [&] {
      TIMELINE_SPAN(tl, TIMELINE_INFO, "c", "breath $a", n);
      return 1;
    }());
  };
  inner();
#ifdef STRICT_HPP
  timeline::ring ring("/x");
  TIMELINE_EVENT(ring, timeline::info, "c", "$a $b $c $d", n, s, p, std::chrono::milliseconds(5));
  TIMELINE_EVENT(ring, timeline::info, "c", "$a $b", std::string("x"), std::vector<int>{1});
  ring.define("c", timeline::info, "$a $b")(std::int64_t{1}, p);
  ring.define<int, std::string_view>("c", timeline::info, "$a $b")(1, "x");
  TIMELINE_DEFINE(ring, "c", timeline::info, "$a")(1);
  const auto running = ring.define_span<1>("c", timeline::info, "x $a")(1);
  const timeline::attached at("/x");
  for (const timeline::event& event : at.events())
    for (const timeline::value& value : event.values())
      n += value.as<int>() + static_cast<int>(value.as<double>()) + static_cast<int>(value.as<std::vector<float>>()[0]) +
           static_cast<int>(value.as<std::string>().size());
#endif
  return n;
}
