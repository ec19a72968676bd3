// Every part of timeline.hpp, with right and wrong use. face DIR: an empty directory.
#include <timeline.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "other_unit.hpp"

#define CHECK(...)                                                                         \
  do {                                                                                     \
    if (!(__VA_ARGS__)) {                                                                  \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #__VA_ARGS__);     \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (false)

// The call throws timeline::exception with this status, mentioning this.
template <class Call>
static void check_throws(int line, timeline_status_t status, const std::string& mention, Call call) {
  try {
    call();
  } catch (const timeline::exception& e) {
    if (e.status() == status && std::string(e.what()).find(mention) != std::string::npos) return;
    std::fprintf(stderr, "line %d: threw %d \"%s\", expected %d \"%s\"\n", line, e.status(), e.what(), status,
                 mention.c_str());
    std::exit(1);
  }
  std::fprintf(stderr, "line %d: did not throw \"%s\"\n", line, mention.c_str());
  std::exit(1);
}
#define CHECK_THROWS(status, mention, ...) check_throws(__LINE__, status, mention, [&] { __VA_ARGS__; })

static std::vector<std::string> texts(const timeline::attached& at, timeline::order order = timeline::oldest_first) {
  std::vector<std::string> all;
  for (const timeline::event& event : at.events(order)) all.push_back(event.text());
  return all;
}

// Made before main, in any order, and destroyed after it: the tracepoint must not outlive its
// timeline.
struct logs_when_destroyed {
  timeline::tracepoint<> last;
  ~logs_when_destroyed() {
    if (last.id() != 0) last(42);
  }
};
static logs_when_destroyed first_made;
static timeline::tracepoint<1> never_defined;

static void counts_as_the_library() {
  const char* const messages[] = {
      "",           "$",           "$ $",      "$a",          "$a$b",        "a$b",       "$a,$b;$c.$d", "$$a",
      "$\n$a",      "$a\n$b",      "\n$a",     "cost: $5",    "$_",          "$-a",       "$a-$b",       "${a}",
      "US$ 5",      "$\xc3\xa9",   "a $b\r\n",  "a\r$b", "($a)",        "$a $b $c $d", "tab\t$a",   "\\$a",        "$a_1 $B2",
      "\"$quoted\"", "x=$x, y=$y", "$a $a",    "100$",        "$a$",         "$a:$",      "'$a'",        "$A$$B",
      "$a:u8",      "$a:$b:ns $c",  "$a:enum(x=1,y=2) $b"};
  for (const char* message : messages) {
    std::uint32_t count = 99;
    timeline_field_t fields[4];
    const timeline_status_t status = timeline_fields(message, fields, &count);
    const int mine = timeline::detail::count_arguments(message);
    if (status == TIMELINE_E_ARGUMENT && count == 99 && (mine > 4 || *message == '\0' || *message == '\n')) continue;
    if (status == TIMELINE_OK && mine == static_cast<int>(count)) continue;
    std::fprintf(stderr, "\"%s\" has %d arguments for timeline.hpp, %u (status %d) for the library: %s\n", message,
                 mine, count, status, timeline_last_error());
    std::exit(1);
  }
}

enum class color : unsigned char { red = 200 };
enum plain { five = 5 };
struct holder {
  static const int constant = 77;  // declared only: taking its address would not link
  unsigned bits : 3;
};

static void arguments(timeline::ring& tl, const timeline::attached& at) {
  auto one = tl.define<1>("arguments", timeline::trace, "got $value");
  static_assert(noexcept(one(1)), "what the compiler checked cannot throw");
  static_assert(sizeof one <= 3 * sizeof(void*), "cheap to copy");
  holder held{};
  held.bits = 6;
  int local = 0;
  one(std::int8_t{-1});
  one(std::uint64_t{18446744073709551615u});
  one(true);
  one('c');
  one(color::red);
  one(five);
  one(nullptr);
  one(holder::constant);
  one(held.bits);
  one(&local);
  one("text");
  one(std::size_t{3});
  one(INT64_MIN);
  std::vector<std::string> got = texts(at);
  const std::vector<std::string> expected = {
      "got value(-1)", "got value(-1)",  "got value(1)",  "got value(99)", "got value(200)",
      "got value(5)",  "got value(0)",   "got value(77)", "got value(6)",  "got value(" + std::to_string(reinterpret_cast<std::intptr_t>(&local)) + ")"};
  CHECK(got.size() == 13 && std::equal(expected.begin(), expected.end(), got.begin()));
  CHECK(got[11] == "got value(3)" && got[12] == "got value(-9223372036854775808)");
}

static void counting(timeline::ring& tl) {
  auto two = tl.define("counting", timeline::trace, "from $a to $b");
  CHECK(two.argument_count() == 2 && two.id() != 0 && two.enabled());
  two(1, 2);
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "has 2 arguments, but was called with 1", two(1));
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "has 2 arguments, but was called with 3", two(1, 2, 3));
  tl.priority(timeline::none);
  // A mistake is found also while the event is disabled.
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "called with 0", two());
  tl.priority(timeline::all);
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "the message has 2 arguments, but define<1>",
               tl.define<1>("counting", timeline::trace, "from $a to $b"));
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "5", tl.define("counting", timeline::trace, "$a $b $c $d $e"));

  auto fixed = TIMELINE_DEFINE(tl, "counting", timeline::trace, "from $a to $b");
  static_assert(std::is_same_v<decltype(fixed), timeline::tracepoint<2>>, "counted by the compiler");
  CHECK(fixed.id() == two.id());
}

static void errors(const std::string& dir, timeline::ring& tl) {
  const std::string ring = dir + "/ring";
  CHECK_THROWS(TIMELINE_E_IN_USE, ring, timeline::ring{ring});
  CHECK_THROWS(TIMELINE_E_NOT_FOUND, "absent", timeline::ring::open(dir + "/absent"));
  CHECK_THROWS(TIMELINE_E_NOT_FOUND, "absent", timeline::attached{dir + "/absent"});
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "NUL", timeline::ring{std::string("/tmp/a\0b", 8)});
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "path is NULL", timeline::ring{nullptr});
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "1000", timeline::ring(dir + "/odd", 1000));
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "category is NULL", tl.define(nullptr, timeline::trace, "m"));
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "no priority", tl.define("c", static_cast<timeline::priority>(12), "m"));
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "no level", tl.priority(timeline::level{12}));
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "loud", timeline::parse_level("loud"));
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "all", timeline::parse_priority("all"));
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "negative",
               tl.sample(timeline::all, std::chrono::nanoseconds(-1), std::chrono::seconds(1)));
  CHECK(timeline::parse_level("none") == timeline::none && timeline::parse_level("app") == timeline::app);
  CHECK(timeline::parse_priority("library") == timeline::library && timeline::all != timeline::none);
}

static void catalogues(const std::string& dir) {
  timeline::ring tl(dir + "/catalogued");
  const timeline::attached at(dir + "/catalogued");
  const std::string file = dir + "/engine.events";
  std::FILE* const out = std::fopen(file.c_str(), "w");
  CHECK(out != nullptr);
  std::fputs("info important|breath $number: $packets packets\nA breath is one turn.\n\n", out);
  std::fputs("packet itv=on|got $len:bytes from $host:str, load $load:f64\n", out);
  std::fclose(out);
  timeline::tracepoint<> kept;
  {
    const timeline::catalogue events = tl.load(file);
    CHECK(events.size() == 2 && events.names() == std::vector<std::string>{"engine.breath", "engine.got"});
    kept = events.at("engine.breath");
    const auto got = events.at<std::uint32_t, std::string_view, double>("engine.got");
    tl.priority(timeline::all);
    got(1536, "eth0", 0.5);
    tl.channel("itv", false);
    got(1536, "eth0", 0.5);
    CHECK_THROWS(TIMELINE_E_NOT_FOUND, "no event \"engine.gone\"", events.at("engine.gone"));
    CHECK_THROWS(TIMELINE_E_ARGUMENT, "$host is not one", events.at("engine.got"));
    CHECK_THROWS(TIMELINE_E_ARGUMENT, "host", events.at<std::uint32_t, int, double>("engine.got"));
  }
  kept(7, 32);
  // The important one comes first.
  CHECK(texts(at) == std::vector<std::string>{"breath number(7): packets(32) packets",
                                              "got len(1.5 KiB) from host(eth0), load load(0.5)"});
  CHECK_THROWS(TIMELINE_E_IO, "", tl.load(dir + "/no such file"));
}

static void moved_from(const std::string& dir) {
  timeline::ring first(dir + "/moved", 256);
  auto kept = first.define("moved", timeline::info, "number $n");
  timeline::ring second = std::move(first);
  // NOLINTBEGIN(bugprone-use-after-move): that is the test.
  CHECK(!first && second && first.c() == nullptr && first.level() == timeline::none);
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "the timeline is NULL", first.define("c", timeline::info, "m"));
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "the timeline is NULL", first.priority(timeline::info));
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "the timeline is NULL", first.save(dir + "/x"));
  TIMELINE_EVENT(first, timeline::info, "moved", "never logged");
  kept(1);
  auto taken = std::move(kept);
  kept(2);
  CHECK(!kept.enabled());
  // NOLINTEND(bugprone-use-after-move)
  taken(3);
  { timeline::ring gone = std::move(second); }
  taken(4);  // it keeps the timeline open
  CHECK_THROWS(TIMELINE_E_IN_USE, "moved", timeline::ring(dir + "/moved", 256));
  taken = {};
  timeline::tracepoint<> blank;
  blank(1, 2, 3);
  never_defined(1);
  CHECK(texts(timeline::attached(dir + "/moved")) ==
        std::vector<std::string>{"number n(1)", "number n(3)", "number n(4)"});
  timeline::ring again(dir + "/moved", 256);
  timeline::ring none = timeline::ring::take(nullptr);
  CHECK(!none);
  again = std::move(none);
  timeline::ring and_again(dir + "/moved", 256);
}

// One line of source, many timelines: each gets the event as its own.
static void log_from_one_place(const timeline::ring& tl, std::int64_t number) {
  TIMELINE_EVENT(tl, timeline::info, "place", "one place, number $number", number);
}

static void many_timelines(const std::string& dir) {
  std::vector<timeline::ring> rings;
  constexpr std::size_t count = 6;
  for (std::size_t i = 0; i < count; i++) {
    rings.emplace_back(dir + "/many" + std::to_string(i), 256);
    // The same event has another number in each.
    for (std::size_t j = 0; j < i; j++) rings[i].define("filler", timeline::info, "filler " + std::to_string(j));
  }
  for (std::size_t round = 0; round < 3; round++)
    for (std::size_t i = 0; i < count; i++) log_from_one_place(rings[i], static_cast<std::int64_t>(10 * i + round));
  // Freed, and perhaps another one is at the same address: the call site must not take it for the
  // old one.
  rings.pop_back();
  rings.emplace_back(dir + "/many_new", 256);
  log_from_one_place(rings.back(), 1000);
  for (std::size_t i = 0; i < count; i++) {
    const std::string base = "one place, number number(";
    std::vector<std::string> expected;
    for (std::size_t round = 0; round < 3; round++) expected.push_back(base + std::to_string(10 * i + round) + ")");
    CHECK(texts(timeline::attached(dir + "/many" + std::to_string(i))) == expected);
  }
  CHECK(texts(timeline::attached(dir + "/many_new")) == std::vector<std::string>{"one place, number number(1000)"});
}

static void the_macro(const std::string& dir) {
  timeline::ring tl(dir + "/macro", 65536);
  timeline::attached at(dir + "/macro");
  int evaluated = 0;
  const auto costly = [&] { return ++evaluated; };
  for (int i = 0; i < 3; i++) {
    if (i == 1) tl.priority(timeline::error);
    if (i == 2) tl.priority(timeline::all);
    TIMELINE_EVENT(tl, timeline::info, "macro", "costly $n", costly());
  }
  CHECK(evaluated == 2);
  if (evaluated == 0)
    TIMELINE_EVENT(tl, timeline::info, "macro", "not a braced if, $n", costly());
  else
    TIMELINE_EVENT(tl, timeline::info, "macro", "no arguments, (commas, too), at all");
  TIMELINE_EVENT(tl.c(), timeline::info, "macro", "by the C handle $a $b $c $d", 1, 2, 3, 4);
  TIMELINE_EVENT(static_cast<timeline_t*>(nullptr), timeline::info, "macro", "nowhere");
  [[maybe_unused]] const auto logs = [&] { TIMELINE_EVENT(tl, timeline::info, "m", "m $x", 1); };
  // An event that cannot be defined is not logged, and does not throw. The timeline says why.
  TIMELINE_EVENT(tl, static_cast<timeline::priority>(77), "macro", "impossible");
  TIMELINE_EVENT(tl, timeline::info, "bad \xff", "impossible");
  std::vector<std::string> found = texts(at);
  CHECK(!found.empty() && found.back().find("logs nothing: why(category is not UTF-8") != std::string::npos);
  found.pop_back();
  CHECK(found == std::vector<std::string>{"costly n(1)", "costly n(2)", "no arguments, (commas, too), at all",
                                          "by the C handle a(1) b(2) c(3) d(4)"});

  // First use by many threads at once, of one call site in each of two translation units.
  std::vector<std::thread> threads;
  constexpr int each = 500, workers = 8;
  for (int t = 0; t < workers; t++)
    threads.emplace_back([&tl] {
      for (int i = 0; i < each; i++) {
        TIMELINE_EVENT(tl, timeline::info, "race", "raced to $i", i);
        log_inline(tl, i);
        log_from_other_unit(tl, i);
      }
    });
  for (std::thread& thread : threads) thread.join();
  int raced = 0, other = 0;
  timeline::cursor events = at.events();
  for (const timeline::event& event : events) {
    raced += event.category() == "race";
    other += event.category() == "inline" || event.category() == "other";
  }
  CHECK(raced == each * workers && other == 3 * each * workers && events.missed() == 0);
}

static void reading(timeline::ring& tl, const std::string& dir) {
  timeline::ring own(dir + "/read", 256);
  const auto event = TIMELINE_DEFINE(own, "reading", timeline::warning, "pair $a and $b\nsecond line");
  timeline::attached at(dir + "/read");
  timeline::cursor follower = at.follow();
  CHECK(follower.begin() == follower.end());
  for (int i = 0; i < 5; i++) event(i, -i);
  CHECK(std::distance(follower.begin(), follower.end()) == 5);
  CHECK(follower.begin() == follower.end());
  event(5, -5);
  CHECK(follower.begin()->text() == "pair a(5) and b(-5)");
  CHECK(follower.missed() == 0);
  timeline::cursor all = at.follow(timeline::from::oldest);
  CHECK(std::distance(all.begin(), all.end()) == 6);
  own.thread("worker 3", "workers");
  CHECK(at.events().begin()->thread() == "worker 3" && at.events().begin()->group() == "workers");
  own.thread(std::string("worker 4"));
  CHECK(at.events().begin()->thread() == "worker 4" && at.events().begin()->group().empty());
  own.thread("");

  const auto now = std::chrono::system_clock::now();
  int i = 5;
  for (const timeline::event& e : at.events(timeline::newest_first)) {
    const std::vector<timeline::value> values = e.values();
    CHECK(values.size() == 2 && values[0].as<int>() == i && values[1].as<std::int64_t>() == -i);
    CHECK(e.category() == "reading" && e.message() == "pair $a and $b\nsecond line");
    CHECK(e.priority() == timeline::warning && e.id() == event.id());
    CHECK(e.tid() != 0 && e.pid() != 0 && e.ticks() != 0 && !e.thread().empty() && !e.process().empty());
    CHECK(e.time() > now - std::chrono::hours(1) && e.time() < now + std::chrono::hours(1));
    i--;
  }
  CHECK(i == -1);
  // The attached timeline of this loop is destroyed before its first turn.
  int held = 0;
  for (const timeline::event& e : timeline::attached(dir + "/read").events()) held += e.category() == "reading";
  CHECK(held == 6);
  const auto found = [&] {
    timeline::cursor events = at.events();
    return std::count_if(events.begin(), events.end(), [](const timeline::event& e) { return e.values()[0].as<int>() > 2; });
  };
  CHECK(found() == 3);
  CHECK(timeline::event().category().empty());
  CHECK(timeline::event().values().empty());
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "no order", at.events(static_cast<timeline::order>(5)));

  own.save(dir + "/saved.timeline");
  CHECK(texts(timeline::attached(dir + "/saved.timeline"), timeline::newest_first).front() == "pair a(5) and b(-5)");
  timeline::unlink(dir + "/read");
  CHECK_THROWS(TIMELINE_E_NOT_FOUND, "read", timeline::unlink(dir + "/read"));
  CHECK_THROWS(TIMELINE_E_IO, "dump", timeline::dump(dir + "/saved.timeline", 0, 1000000));

  const auto detail = TIMELINE_DEFINE(tl, "sampling", timeline::library, "detail");
  tl.priority(timeline::error);
  {
    timeline::sampler sampler = tl.sample(timeline::all, std::chrono::microseconds(100), std::chrono::milliseconds(1));
    CHECK(sampler && tl.level() == timeline::error);
    while (!detail.enabled()) {
    }
    while (detail.enabled()) {
    }
    CHECK_THROWS(TIMELINE_E_BUSY, "sampled", tl.sample(timeline::all, std::chrono::microseconds(1), std::chrono::seconds(1)));
  }
  CHECK(!detail.enabled() && tl.level() == timeline::error);
  tl.priority(timeline::all);

  // An event of many arguments has them all, and no more.
  TIMELINE_EVENT(own, timeline::info, "reading", "$a $b $c $d $e $f $g", 1, 2, 3, 4, 5, 6, 7);
  const timeline::event many = *at.events(timeline::newest_first).begin();
  CHECK(many.values().size() == 7 && many.values()[6].as<int>() == 7);
}

// Values come back with their types, and only as what they are.
static void values_of_types(const std::string& dir) {
  timeline::ring own(dir + "/values", 4096);
  timeline::attached at(dir + "/values");
  const auto newest = [&] { return *at.events(timeline::newest_first).begin(); };
  const std::vector<std::int16_t> list{-1, 32767};
  const std::vector<double> fractions{0.5};
  const char* const null = nullptr;
  enum class hue : std::uint8_t { red = 1, green = 2 };
  TIMELINE_EVENT(own, timeline::info, "values", "$a:u8 $b:u64 $c $d $e $f $g $h $i $j:enum(red=1,green=2) $k:bool $l:char",
                 300u, ~std::uint64_t{0}, 0.1f, -0.25, "a text", list, null, fractions, std::string(3000, 'x'),
                 hue::green, true, 0x1f600);
  const timeline::event event = newest();
  const std::vector<timeline::value> v = event.values();
  CHECK(v.size() == 12);
  CHECK(v[0].as<int>() == 44 && v[0].as<std::uint8_t>() == 44 && v[0].type() == TIMELINE_U8);
  CHECK(v[1].as<std::uint64_t>() == ~std::uint64_t{0} && v[1].kind() == TIMELINE_IS_UNSIGNED);
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "a whole number of that size", (void)v[1].as<std::int64_t>());
  CHECK(v[2].as<float>() == 0.1f && v[3].as<double>() == -0.25 && v[0].as<double>() == 44);
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "a whole number", (void)v[3].as<int>());
  CHECK(v[4].as<std::string_view>() == "a text" && v[4].as<std::string>() == "a text" && !v[4].is_cut());
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "a number", (void)v[4].as<double>());
  CHECK(v[5].as<std::vector<std::int16_t>>() == list && v[7].as<std::vector<double>>() == fractions);
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "such elements", (void)v[5].as<std::vector<std::uint16_t>>());
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "such elements", (void)v[7].as<std::vector<std::int64_t>>());
  CHECK(v[6].is_null() && !v[4].is_null());
  CHECK_THROWS(TIMELINE_E_ARGUMENT, "a text", (void)v[6].as<std::string>());
  CHECK(v[8].is_cut() && v[8].as<std::string_view>().size() > 300);
  CHECK(v[9].as<hue>() == hue::green && v[10].as<bool>() && v[11].as<char32_t>() == U'\U0001f600');

  TIMELINE_PRINTF(own, timeline::info, "%hhd %*Lf %s %%", 300, 9, 0.1L, "printed");
  const timeline::event printed = newest();
  const std::vector<timeline::value> p = printed.values();
  CHECK(p.size() == 4 && p[0].as<int>() == 300 && p[1].as<int>() == 9 && p[2].as<long double>() == 0.1L);
  CHECK(p[2].as<double>() == 0.1 && p[3].as<std::string_view>() == "printed" && p[3].type() == 0);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  const std::string dir = argv[1];
  counts_as_the_library();
  {
    timeline::ring tl(dir + "/ring", 65536);
    timeline::ring joined = timeline::ring::open_or_create(dir + "/ring");
    timeline::attached at(dir + "/ring");
    arguments(tl, at);
    counting(tl);
    errors(dir, tl);
    reading(tl, dir);
    CHECK(joined.level() == timeline::all);
    first_made.last = tl.define("late", timeline::info, "after main $n");
  }
  values_of_types(dir);
  moved_from(dir);
  many_timelines(dir);
  catalogues(dir);
  the_macro(dir);
  std::puts("face: ok");
}
