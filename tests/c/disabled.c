/* Statements in a function of their own: with TIMELINE_DISABLED it is like the empty one.
 * It is C and C++. */
#ifdef __cplusplus
#include <timeline.hpp>
#else
#include <timeline.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

timeline_t *find_timeline(void);
int find_level(void);
int find_number(int number);
const char *find_text(void);

void empty(void);
void statements(int number, double ratio);
void spans(int number);

void empty(void) {}

#ifdef __cplusplus
namespace {
struct sent {
  static constexpr auto event = timeline::declared("gone", timeline::info, "the declared $number to $text");
  int number;
  const char *text;
};
}  // namespace

void objects(const timeline::ring &tl, const timeline::tracepoint<1> &one, const timeline::tracepoint<> &any,
             const timeline::typed_tracepoint<int, const char *> &typed, const timeline::span_events<1> &span,
             int number);
void objects(const timeline::ring &tl, const timeline::tracepoint<1> &one, const timeline::tracepoint<> &any,
             const timeline::typed_tracepoint<int, const char *> &typed, const timeline::span_events<1> &span,
             int number) {
  const auto begun = span(number);
  tl.log(sent{number, "a text"});
  one(number);
  any(number, number);
  typed(number, "a text");
}
#endif

void statements(int number, double ratio) {
  TIMELINE_EVENT(find_timeline(), find_level(), "gone", "the event $number:i32 and $ratio:f64 of $text:str",
                 find_number(number), ratio, find_text());
  TIMELINE_PRINTF(find_timeline(), TIMELINE_INFO, "the printf %d and %s", find_number(number), find_text());
  TIMELINE_BACKTRACE(find_timeline(), TIMELINE_INFO, "the backtrace %f", ratio);
  TIMELINE_IMPORTANT_PRINTF(find_timeline(), TIMELINE_INFO, "the important %s that is gone", find_text());
  TIMELINE_IMPORTANT_EVENT(find_timeline(), TIMELINE_INFO, "gone", "the important $text", find_text());
  timeline_log(find_timeline(), 7, find_number(number), 0, 0, 0);
}

void spans(int number) {
  TIMELINE_SPAN(find_timeline(), find_level(), "gone", "the span $number:i32 of $text:str", find_number(number),
                find_text());
  TIMELINE_SPAN(find_timeline(), TIMELINE_INFO, "gone", "the numbers $number", find_number(number));
}

#ifdef __cplusplus
}
#endif
