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

void empty(void) {}

void statements(int number, double ratio) {
  TIMELINE_EVENT(find_timeline(), find_level(), "gone", "the event $number:i32 and $ratio:f64 of $text:str",
                 find_number(number), ratio, find_text());
  TIMELINE_PRINTF(find_timeline(), TIMELINE_INFO, "the printf %d and %s", find_number(number), find_text());
  TIMELINE_BACKTRACE(find_timeline(), TIMELINE_INFO, "the backtrace %f", ratio);
}

#ifdef __cplusplus
}
#endif
