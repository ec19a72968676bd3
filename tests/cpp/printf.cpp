// TIMELINE_PRINTF and TIMELINE_BACKTRACE in C++, with the types that timeline.hpp adds. printf DIR
#include <timeline.hpp>

#include <iostream>
#include <string>
#include <thread>
#include <vector>

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::cerr << __FILE__ << ':' << __LINE__ << ": not true: " << #condition << '\n'; \
      std::exit(1);                                                                      \
    }                                                                                    \
  } while (false)

namespace {

int evaluated = 0;
int costly(int value) {
  ++evaluated;
  return value;
}

// A statement of its own for each type, at one line.
template <class T>
void say(const timeline::ring& tl, T value) {
  TIMELINE_PRINTF(tl, timeline::trace, "%d of %zu bytes", static_cast<int>(value), sizeof value);
}

struct logged {
  std::string text, category;
  timeline::priority priority;
};

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const std::string path = std::string(argv[1]) + "/ring";
  timeline::ring tl(path, 4096);
  timeline::attached at(path);
  timeline::cursor cursor = at.follow(timeline::from::oldest);

  // A ring, a handle, a priority, a number, a variable priority.
  const std::string name = "eth0";
  TIMELINE_PRINTF(tl, timeline::info, "took %d ms for %s", 5, name.c_str());
  TIMELINE_PRINTF(tl.c(), TIMELINE_ERROR, "%s", "a handle");
  for (timeline::priority priority : {timeline::error, timeline::library}) TIMELINE_PRINTF(tl, priority, "varies");
  say(tl, short{1});
  say(tl, 2L);
  [&tl] { TIMELINE_PRINTF(tl, timeline::app, "in a lambda: %.*s", 4, std::string_view("view of it").data()); }();
#undef TIMELINE_CATEGORY
#define TIMELINE_CATEGORY "cpp"
  TIMELINE_PRINTF(tl, timeline::packet, "");
  TIMELINE_PRINTF(tl, timeline::packet, "%ls %Lg %hhd", L"wide", 0.25L, static_cast<signed char>(-1));

  const std::vector<logged> expected = {
      {"took 5 ms for eth0", "printf", timeline::info}, {"a handle", "printf", timeline::error},
      {"varies", "printf", timeline::error},            {"varies", "printf", timeline::library},
      {"1 of 2 bytes", "printf", timeline::trace},      {"2 of 8 bytes", "printf", timeline::trace},
      {"in a lambda: view", "printf", timeline::app},   {"", "cpp", timeline::packet},
      {"wide 0.25 -1", "cpp", timeline::packet},
  };
  // Kept beyond the cursor's next event.
  std::vector<timeline::event> events;
  for (const timeline::event& event : cursor) events.push_back(event);
  CHECK(events.size() == expected.size());
  for (std::size_t i = 0; i < events.size(); i++) {
    const timeline::event copy = events[i];
    CHECK(copy.text() == expected[i].text);
    CHECK(copy.category() == expected[i].category);
    CHECK(copy.priority() == expected[i].priority);
    CHECK(copy.line() > 0 && copy.file().find("printf.cpp") != std::string_view::npos);
    CHECK(copy.backtrace().empty());
  }
  CHECK(events[0].values().size() == 2 && events[0].values()[0].as<int>() == 5);
  CHECK(events[0].values()[1].as<std::string_view>() == "eth0");
  CHECK(events[2].values().empty());
  CHECK(events[4].line() == events[5].line());

  // The level, and a moved-from ring.
  tl.priority(timeline::warning);
  TIMELINE_PRINTF(tl, timeline::info, "%d", costly(1));
  timeline::ring other = std::move(tl);
  TIMELINE_PRINTF(tl, timeline::error, "%d", costly(2));
  CHECK(evaluated == 0);
  TIMELINE_PRINTF(other, timeline::error, "%d", costly(3));
  CHECK(evaluated == 1);

  // Another thread's stack, with a template of the other kind between.
  std::thread([&other] { TIMELINE_BACKTRACE(other, timeline::error, "stack of %s", "a thread"); }).join();
  TIMELINE_EVENT(other, timeline::error, "example", "resized to $bytes", 7);
  timeline::event event;
  CHECK(cursor.next(event) && event.text() == "3");
  CHECK(cursor.next(event) && event.text() == "stack of a thread");
  CHECK(event.backtrace().size() > 1 && event.backtrace().size() < 32);
  const timeline::event stack = event;
  CHECK(cursor.next(event) && event.text() == "resized to bytes(7)");
  CHECK(event.backtrace().empty() && event.line() > 0 && !event.file().empty());
  CHECK(stack.text() == "stack of a thread" && stack.backtrace().size() > 1);
  CHECK(!cursor.next(event));
  CHECK(timeline::event().text().empty());
  std::cout << "printf: ok\n";
}
