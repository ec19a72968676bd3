// TIMELINE_EVENT with the types of C++. event DIR: an empty directory.
#include <timeline.hpp>

#include <atomic>
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

// What is returned by value has its own memory, which must not be freed before the event is logged.
struct address {
  std::uint32_t number;
};
std::array<std::uint8_t, 4> timeline_value(const address& a) {
  const auto byte = [&a](int bits) { return static_cast<std::uint8_t>(a.number >> bits); };
  return {{byte(24), byte(16), byte(8), byte(0)}};
}
struct sevens {
  std::size_t count;
};
std::vector<int> timeline_value(const sevens& s) { return std::vector<int>(s.count, 7); }
struct repeated {
  char letter;
};
std::string timeline_value(const repeated& r) { return std::string(40, r.letter); }
struct host {
  address at;
};
address timeline_value(const host& h) { return {h.at.number + 1}; }
const std::string& timeline_value(const std::pair<int, named>& p) { return p.second.name; }
enum class state { up = 1 };
std::string_view timeline_value(state s) { return s == state::up ? "up" : "unknown"; }
}  // namespace mine

// It converts to a number.
struct celsius {
  double degrees;
  operator double() const { return degrees; }
};

// It throws, so nothing is logged.
struct refusing {};
int timeline_value(const refusing&) { throw std::runtime_error("refused"); }
struct inside {
  refusing inner;
};
refusing timeline_value(const inside& i) noexcept { return i.inner; }
struct calm {};
int timeline_value(const calm&) noexcept { return 1; }

// Declared events: structs of named members.
struct sent {
  static constexpr auto event =
      timeline::declared("cpp", timeline::info, "sent $size:bytes to $host:istr, $load\nDeclared in a struct.");
  std::uint32_t size;
  std::string_view host;
  double load = 0.5;
};
struct wide {
  static constexpr auto event = timeline::declared("cpp", timeline::info, "$a $b:enum(red=1,green=200) $c $d $e $f $g");
  int a;
  color b;
  std::string c;
  std::vector<std::int64_t> d;
  std::array<float, 3> e;
  mine::point f;
  const char* g;
};
// Members without a default are of another kind to the compiler: it cannot leave them out.
class id {
 public:
  explicit id(int n) : n_(n) {}
  friend int timeline_value(const id& i) { return i.n_; }

 private:
  int n_;
};
struct started {
  static constexpr auto event = timeline::declared("cpp", timeline::info, "started $a $b by $c with $d");
  int a;
  id b;
  id c;
  double d;
};
#if defined(__cpp_lib_span)
struct fixed {
  static constexpr auto event = timeline::declared("cpp", timeline::info, "fixed $n $three");
  int n;
  std::span<const unsigned short, 3> three;
};
#endif
struct throwing {
  static constexpr auto event = timeline::declared("cpp", timeline::info, "never $a $b");
  int a;
  inside b;
};
struct bare {
  static constexpr auto event = timeline::declared("cpp", timeline::info, "no members");
};
struct many {
  static constexpr auto event = timeline::declared(
      "cpp", timeline::info, "$a $b $c $d $e $f $g $h $i $j $k $l $m $n $o $p $q $r $s $t $u $v $w $x $y $z $A $B $C $D $E $F");
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, A, B, C, D, E, F;
};
struct kept {
  static constexpr auto event =
      timeline::declared("cpp", timeline::info, "interface $id is $name", timeline::attributes{"cpp=on", true});
  int id;
  std::string_view name;
};

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
  TIMELINE_EVENT(tl, info, "cpp", "$from $to $list $text $by $name", mine::address{0x0a000001}, mine::address{0xc0a80001},
                 mine::sevens{40}, mine::repeated{'x'}, mine::host{{0x0a0000fe}}, std::make_pair(1, mine::named{"by reference"}));
  TIMELINE_EVENT(tl, info, "cpp", "$count $celsius", std::atomic<int>(5), celsius{2.5});
  TIMELINE_EVENT(tl, info, "cpp", "$named_by_its_function", mine::state::up);
  std::string sevens = "7";
  for (int i = 1; i < 40; i++) sevens += ", 7";
  expected.push_back("from([10, 0, 0, 1]) to([192, 168, 0, 1]) list([" + sevens + "]) text(" + std::string(40, 'x') +
                     ") by([10, 0, 0, 255]) name(by reference)");
  says("count(5) celsius(2.5)");
  says("named_by_its_function(up)");
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
  for (const char* host : {"eth0", "lo", "eth0"}) {
    TIMELINE_EVENT(tl, info, "cpp", "$n to $host:istr by $part:istr $text", 7, host, part, std::string_view("and more"));
    expected.push_back(std::string("n(7) to host(") + host + ") by part(text) text(and more)");
  }
  for (int round = 0; round < 2; round++) {
    tl.log(sent{1536, "eth0"});
    says("sent size(1.5 KiB) to host(eth0), load(0.5)");
#if __cplusplus >= 202002L
    tl.log(sent{.size = 12, .host = part, .load = 1});
    says("sent size(12 B) to host(text), load(1.0)");
#endif
    tl.log(wide{-1, color::green, text, {1, -2}, {1, 2, 0.5}, {{3, 4}}, nullptr});
    says(
        "a(-1) b(green) c(a text of some length, with \xc3\xa4) d([1, -2]) e([1.0, 2.0, 0.5]) f([3.0, 4.0]) "
        "g((null))");
    tl.log(started{1, id(2), id(3), 0.5});
    says("started a(1) b(2) by c(3) with d(0.5)");
#if defined(__cpp_lib_span)
    tl.log(fixed{.n = 1, .three = std::span<const unsigned short, 3>(shorts)});
    says("fixed n(1) three([1, 2, 3])");
#endif
    tl.log(bare{});
    says("no members");
  }
  tl.log(many{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
              31, 32});
  says(
      "a(1) b(2) c(3) d(4) e(5) f(6) g(7) h(8) i(9) j(10) k(11) l(12) m(13) n(14) o(15) p(16) q(17) r(18) s(19) t(20) "
      "u(21) v(22) w(23) x(24) y(25) z(26) A(27) B(28) C(29) D(30) E(31) F(32)");
  tl.log(kept{7, "eth0"});
  TIMELINE_IMPORTANT_PRINTF(tl, info, "group %d is %s", 3, text.substr(0, 6).c_str());
  const char* const important[] = {"interface id(7) is name(eth0)", "group 3 is a text"};
  expected.insert(expected.begin(), important, important + 2);

  // Tracepoints with types.
  const auto typed = tl.define<std::uint32_t, double, std::string_view, color>(
      "cpp", info, "typed $size:bytes $ratio to $host:istr $color:enum(red=1,green=200)");
  typed(1536, 0.25, "eth0", color::red);
  says("typed size(1.5 KiB) ratio(0.25) to host(eth0) color(red)");
  const auto own = tl.define<mine::point, mine::named, std::vector<std::uint16_t>>("cpp", info, "$p of $named, $list");
  own({{1, 2}}, {"of the program"}, {7, 8});
  says("p([1.0, 2.0]) of named(of the program), list([7, 8])");
  const auto numbers = tl.define<float, bool>("cpp", info, "$small $yes");
  numbers(1.25f, true);
  says("small(1.25) yes(true)");
  if (numbers.id() != tl.define<float, bool>("cpp", info, "$small $yes").id()) failed = 1;
  timeline::typed_tracepoint<int>()(5);
  const auto refuses = [&](auto define, const char* why) {
    try {
      define();
      failed = 1, std::cerr << "nothing refused it: " << why << '\n';
    } catch (const timeline::exception& e) {
      if (e.status() != TIMELINE_E_ARGUMENT || std::string_view(e.what()).find(why) == std::string_view::npos)
        failed = 1, std::cerr << e.what() << '\n';
    }
  };
  refuses([&] { tl.define<int>("cpp", info, "$a $b"); }, "2 arguments");
  refuses([&] { tl.define<double>("cpp", info, "$a:u32"); }, "u32");
  refuses([&] { tl.define("cpp", info, "$a:f64"); }, "define<double>");
  TIMELINE_PRINTF(tl, info, "%d %s %c %.3f %p %ls", once(-5), text.c_str(), 'c', 0.125, nullptr, L"wide");
  says("-5 a text of some length, with \xc3\xa4 c 0.125 (nil) wide");

  // What a timeline_value throws arrives, and nothing is logged.
  const auto throws = [&](auto log) {
    try {
      log();
      failed = 1, std::cerr << "nothing was thrown\n";
    } catch (const std::runtime_error& e) {
      if (std::string_view(e.what()) != "refused") failed = 1, std::cerr << e.what() << '\n';
    }
  };
  const auto refused = tl.define<int, refusing>("cpp", info, "never $a $b");
  const auto calmed = tl.define<int, calm>("cpp", info, "calm $a $b");
  throws([&] { TIMELINE_EVENT(tl, info, "cpp", "never $text $number", text, refusing()); });
  throws([&] { TIMELINE_EVENT(tl, info, "cpp", "never $number", inside()); });
  throws([&] { TIMELINE_SPAN(tl, info, "cpp", "never $text $number", text, refusing()); });
  throws([&] { refused(1, refusing()); });
  throws([&] { tl.log(throwing{1, {}}); });
  static_assert(!noexcept(refused(1, refusing())) && !noexcept(tl.log(throwing{1, {}})));
  static_assert(noexcept(calmed(1, calm())) && noexcept(typed(1, 2, "", color::red)));
  static_assert(noexcept(tl.log(bare())) && noexcept(tl.log(sent())) && !timeline_throws_<calm>::value);

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
