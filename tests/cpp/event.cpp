// TIMELINE_EVENT with the types of C++. event DIR: an empty directory.
#include <timeline.hpp>

#include <climits>
#include <iostream>

namespace {

enum class color : unsigned char { red = 1, green = 200 };
enum plain { none = -1, some };

}  // namespace

// A type of the program, with its one overload beside it.
namespace mine {
struct point {
  std::array<double, 2> at;
};
auto timeline_value(const point& p) { return timeline_array_(p.at.data(), p.at.size()); }
struct named {
  std::string name;
};
std::string_view timeline_value(const named& n) { return n.name; }
}  // namespace mine

static int failed = 0;
static int evaluated = 0;
static int once(int n) {
  ++evaluated;
  return n;
}

int main(int, char** argv) {
  const std::string path = std::string(argv[1]) + "/ring";
  timeline::ring tl(path, 4096);
  std::vector<std::string> expected;
  const auto says = [&](const char* text) { expected.emplace_back(text); };

  const std::string text = "a text of some length, with \xc3\xa4";
  const std::string_view part = std::string_view(text).substr(2, 4);
  struct {
    unsigned five : 3;
  } bits{5};
  const auto info = timeline::info;

  TIMELINE_EVENT(tl, info, "cpp", "nothing");
  says("nothing");
  TIMELINE_EVENT(tl, info, "cpp", "$a, $b, $c and $d", once(-1), color::green, none, bits.five);
  says("a(-1), b(200), c(-1) and d(5)");
  TIMELINE_EVENT(tl, info, "cpp", "$text $part $c $empty", text, part, "literal", std::string());
  says("text(a text of some length, with \xc3\xa4) part(text) c(literal) empty()");
  TIMELINE_EVENT(tl, info, "cpp", "$took:ns $ok $ratio $small", std::chrono::milliseconds(12), true, 0.5, 1.25f);
  says("took(12ms) ok(true) ratio(0.5) small(1.25)");
  TIMELINE_EVENT(tl, info, "cpp", "$list $three", std::vector<std::int64_t>{1, -2}, std::array<float, 3>{1, 2, 0.5});
  says("list([1, -2]) three([1.0, 2.0, 0.5])");
  TIMELINE_EVENT(tl, info, "cpp", "$p $named", mine::point{{1, 2}}, mine::named{"of the program"});
  says("p([1.0, 2.0]) named(of the program)");
  TIMELINE_EVENT(tl, info, "cpp", "$wide $null $pointer", L"w\u00e4hrend", nullptr, static_cast<void*>(nullptr));
  says("wide(w\xc3\xa4hrend) null(0x0) pointer(0x0)");
  TIMELINE_EVENT(tl, info, "cpp", "$a $b $c $d $e $f", once(1), LLONG_MIN, ULLONG_MAX, 'x', once(5), L'\u00e4' + 0);
  says("a(1) b(-9223372036854775808) c(18446744073709551615) d(x) e(5) f(228)");
  TIMELINE_EVENT(tl, info, "cpp", "$lambda", [] { return 7; }());
  says("lambda(7)");
  TIMELINE_EVENT(tl, info, "cpp", "$c:enum(red=1,green=200) $bits:flags(r=1,w=4)", color::green, 5);
  says("c(green) bits(r|w)");
#if defined(__cpp_lib_span)
  const unsigned short shorts[] = {1, 2, 3};
  TIMELINE_EVENT(tl, info, "cpp", "$span", std::span(shorts));
  says("span([1, 2, 3])");
#endif
  TIMELINE_PRINTF(tl, info, "%d %s %c %.3f %p %ls", once(-5), text.c_str(), 'c', 0.125, nullptr, L"wide");
  says("-5 a text of some length, with \xc3\xa4 c 0.125 (nil) wide");

  // Arguments are evaluated once if the event is enabled, and never if not.
  tl.priority(timeline::error);
  for (int i = 0; i < 3; i++) TIMELINE_EVENT(tl, info, "cpp", "$never $s", once(i), std::string("never"));
  if (evaluated != 4) failed = 1, std::cerr << "evaluated " << evaluated << " times, expected 4\n";

  std::size_t at = 0;
  for (const timeline::event& event : timeline::attached(path).events()) {
    if (at >= expected.size() || event.text() != expected[at]) {
      std::cerr << "event " << at << " is \"" << event.text() << "\", expected \""
                << (at < expected.size() ? expected[at] : "none") << "\"\n";
      failed = 1;
    }
    at++;
  }
  if (at != expected.size()) failed = 1, std::cerr << at << " events, expected " << expected.size() << "\n";
  if (!failed) std::cout << "event: ok\n";
  return failed;
}
