// Spans of C++, defined and as statements, and however their scopes are left. span DIR: an empty directory.
#include <timeline.hpp>

#include <iostream>
#include <optional>
#include <thread>

namespace {

int failed = 0;
int evaluated = 0;

int once(int n) {
  ++evaluated;
  return n;
}

enum class color : unsigned char { red = 1 };

// Leaves its scopes in the way that `how` says.
int leave(const timeline::ring& tl, const std::string& how) {
  TIMELINE_SPAN(tl, timeline::info, "cpp", "outer $how", how);
  for (int turn = 0; turn < 2; ++turn) {
    TIMELINE_SPAN(tl, timeline::info, "cpp", "turn $turn", turn);
    if (how == "return") return turn;
    if (how == "break") break;
    if (how == "throw") throw std::runtime_error(how);
    if (how == "goto") goto out;
  }
out:
  return 0;
}

void scopes(const timeline::ring& tl, std::vector<std::string>& expected) {
  for (const char* const how : {"return", "break", "throw", "goto", "fall"}) {
    try {
      leave(tl, how);
    } catch (const std::runtime_error&) {
    }
    const std::string name(how);
    expected.push_back("begin outer how(" + name + ")");
    for (int turn = 0; turn < (name == "fall" ? 2 : 1); ++turn)
      for (const char* const edge : {"begin", "end"})
        expected.push_back(std::string(edge) + " turn turn(" + std::to_string(turn) + ")");
    expected.push_back("end outer how(" + name + ")");
  }
}

// Spans of one macro are on one line.
#define BOTH(tl, turn)                                           \
  TIMELINE_SPAN(tl, timeline::info, "cpp", "first $turn", turn); \
  TIMELINE_SPAN(tl, timeline::info, "cpp", "second")

void one_line(const timeline::ring& tl, std::vector<std::string>& expected) {
  {
    BOTH(tl, 1);
    [&tl] { BOTH(tl, 2); }();
  }
  for (const char* const text : {"begin first turn(1)", "begin second", "begin first turn(2)", "begin second",
                                 "end second", "end first turn(2)", "end second", "end first turn(1)"})
    expected.push_back(text);
}

// The end has the arguments of the begin, whatever became of them.
void arguments(const timeline::ring& tl, std::vector<std::string>& expected) {
  std::string name = "a name that is long enough";
  std::vector<std::uint16_t> list{1, 2};
  double ratio = 0.5;
  {
    TIMELINE_SPAN(tl, timeline::info, "cpp", "none");
    TIMELINE_SPAN(tl, timeline::info, "cpp", "two $ratio $color:enum(red=1)", ratio, color::red);
    TIMELINE_SPAN(tl, timeline::info, "cpp", "five $a $b $c $d $e", 1, 2, 3, 4, ratio);
    TIMELINE_SPAN(tl, timeline::info, "cpp", "text $name $list $literal", name, list, "text");
    TIMELINE_SPAN(tl, timeline::info, "cpp", "interned $name:istr $other:str", name, std::string("temporary"));
    TIMELINE_SPAN(tl, timeline::info, "cpp", "called $n", [&] { return once(3); }());
    name.clear();
    list = {7};
    ratio = 1.5;
  }
  const char* const spans[] = {"none",
                               "two ratio(0.5) color(red)",
                               "five a(1) b(2) c(3) d(4) e(0.5)",
                               "text name(a name that is long enough) list([1, 2]) literal(text)",
                               "interned name(a name that is long enough) other(temporary)",
                               "called n(3)"};
  for (const char* const span : spans) expected.push_back(std::string("begin ") + span);
  for (std::size_t i = std::size(spans); i-- > 0;) expected.push_back(std::string("end ") + spans[i]);
}

void defined(const timeline::ring& tl, std::vector<std::string>& expected) {
  const auto breath = tl.define_span<1>("cpp", timeline::info, "breath $packets");
  {
    auto running = breath(10);
    running.set(17);
  }
  expected.insert(expected.end(), {"begin breath packets(10)", "end breath packets(17)"});
  // Moved, it ends once, and where it was moved to.
  std::optional<timeline::span> kept;
  {
    auto running = breath(1);
    kept = std::move(running);
    TIMELINE_EVENT(tl, timeline::info, "cpp", "in between");
  }
  kept = breath(2);
  kept->end();
  kept.reset();
  timeline::span none;
  none = timeline::span();
  const timeline::span nothing = timeline::span_events<>()();
  expected.insert(expected.end(), {"begin breath packets(1)", "in between", "begin breath packets(2)",
                                   "end breath packets(1)", "end breath packets(2)"});
  const auto request = tl.define_async_span("cpp", timeline::info, "request $id of $size", {"cpp=on", false});
  request.begin(7, 1);
  std::thread([&] { request.end(7, 2); }).join();
  {
    auto running = request(8, 1);
    std::thread([&] { const auto here = std::move(running); }).join();
    expected.insert(expected.end(), {"start request id(7) of size(1)", "finish request id(7) of size(2)",
                                     "start request id(8) of size(1)", "finish request id(8) of size(1)"});
  }
  tl.channel("cpp", false);
  { const auto off = request(9, 1); }
  const auto refuses = [&](auto define, const char* why) {
    try {
      define();
      failed = 1, std::cerr << "nothing refused it: " << why << '\n';
    } catch (const timeline::exception& e) {
      if (e.status() != TIMELINE_E_ARGUMENT || std::string_view(e.what()).find(why) == std::string_view::npos)
        failed = 1, std::cerr << e.what() << '\n';
    }
  };
  refuses([&] { (void)tl.define_span("cpp", timeline::info, "$n"); }, "which name the span");
  refuses([&] { (void)tl.define_async_span("cpp", timeline::info, "job"); }, "which is its key");
  refuses([&] { (void)tl.define_span<2>("cpp", timeline::info, "job $id"); }, "1 arguments");
  refuses([&] { (void)tl.define_span("cpp", timeline::info, "job $id:str"); }, "whole numbers");
  refuses([&] { (void)request(1); }, "2 arguments");
}

// There is no end without a begin, and a span that is disabled evaluates nothing.
void levels(const timeline::ring& tl, std::vector<std::string>& expected) {
  const auto breath = tl.define_span("cpp", timeline::trace, "breath");
  const auto run = [&](timeline::level before, timeline::level within) {
    tl.priority(before);
    const auto running = breath();
    TIMELINE_SPAN(tl, timeline::trace, "cpp", "once $n", once(3));
    tl.priority(within);
  };
  const int before = evaluated;
  run(timeline::info, timeline::all);
  if (evaluated != before) failed = 1, std::cerr << "a disabled span evaluates its arguments\n";
  run(timeline::all, timeline::info);
  run(timeline::all, timeline::all);
  if (evaluated != before + 2) failed = 1, std::cerr << "arguments were not evaluated once\n";
  expected.insert(expected.end(), {"begin breath", "begin once n(3)", "begin breath", "begin once n(3)",
                                   "end once n(3)", "end breath"});
}

}  // namespace

int main(int, char** argv) {
  const std::string path = std::string(argv[1]) + "/ring";
  timeline::ring tl(path, 4096);
  std::vector<std::string> expected;
  scopes(tl, expected);
  one_line(tl, expected);
  arguments(tl, expected);
  defined(tl, expected);
  levels(tl, expected);
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
  if (!failed) std::cout << "span: ok\n";
  return failed;
}
