// A program that sorts numbers in several threads, logs every step, and reads its own events.
//
//   demo NAME [NUMBERS] [THREADS]
//
// Makes the timeline NAME ("/timeline"), sorts, and prints from its timeline where the time went.
//
// Build: c++ -std=c++17 -pthread demo.cpp $(pkg-config --cflags --libs timeline)
#include <timeline.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

class sorter {
 public:
  explicit sorter(const timeline::ring& tl)
      : tl_(tl),
        // The compiler counts the arguments of each message, and checks every call below against
        // it.
        started_(TIMELINE_DEFINE(tl, "sort", timeline::trace, "started $from $to at $depth")),
        sorted_(TIMELINE_DEFINE(tl, "sort", timeline::trace, "sorted $from $to at $depth")),
        merged_(TIMELINE_DEFINE(tl, "merge", timeline::app,
                                "merged $from $to with $moved\n"
                                "A number has moved when the merge gave it another place.")) {}

  void sort(std::vector<std::int64_t>& numbers, std::size_t from, std::size_t to, int threads, int depth = 0) {
    started_(from, to, depth);
    const std::size_t middle = from + (to - from) / 2;
    if (to - from <= 512) {
      std::sort(at(numbers, from), at(numbers, to));
    } else if (threads > 1) {
      std::thread left([&] { sort(numbers, from, middle, threads / 2, depth + 1); });
      sort(numbers, middle, to, threads - threads / 2, depth + 1);
      left.join();
      merge(numbers, from, middle, to);
    } else {
      sort(numbers, from, middle, 1, depth + 1);
      sort(numbers, middle, to, 1, depth + 1);
      merge(numbers, from, middle, to);
    }
    sorted_(from, to, depth);
  }

 private:
  static std::vector<std::int64_t>::iterator at(std::vector<std::int64_t>& numbers, std::size_t place) {
    return numbers.begin() + static_cast<std::ptrdiff_t>(place);
  }

  void merge(std::vector<std::int64_t>& numbers, std::size_t from, std::size_t middle, std::size_t to) {
    std::vector<std::int64_t> before;
    // Copied only when the event is enabled.
    if (merged_.enabled()) before.assign(at(numbers, from), at(numbers, to));
    std::inplace_merge(at(numbers, from), at(numbers, middle), at(numbers, to));
    if (!before.empty()) {
      std::int64_t moved = 0;
      for (std::size_t i = 0; i < before.size(); i++) moved += before[i] != numbers[from + i];
      merged_(from, to, moved);
    }
    if (!std::is_sorted(at(numbers, from), at(numbers, to)))
      TIMELINE_EVENT(tl_, timeline::error, "merge", "not in order: $from $to", from, to);
  }

  const timeline::ring& tl_;
  timeline::tracepoint<3> started_, sorted_, merged_;
};

// Prints how often each event happened, and the sum of the times since the event before it in the
// same thread.
void summarize(const std::string& name) {
  struct sum {
    std::uint64_t count = 0;
    std::chrono::nanoseconds time{0};
  };
  std::map<std::string, sum> sums;
  std::map<std::uint32_t, timeline::event::time_point> last;
  timeline::attached at(name);
  timeline::cursor events = at.events();
  for (const timeline::event& event : events) {
    const std::string_view message = event.message();
    sum& of = sums[std::string(message.substr(0, message.find('\n')))];
    of.count++;
    const auto before = last.find(event.tid());
    if (before != last.end()) of.time += event.time() - before->second;
    last[event.tid()] = event.time();
  }
  for (const auto& [message, of] : sums)
    std::cout << of.count << " times, " << of.time.count() / 1000 << " us: " << message << '\n';
  if (events.missed() != 0) std::cout << events.missed() << " entries were overwritten meanwhile\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) {
    std::cerr << "usage: " << argv[0] << " NAME [NUMBERS] [THREADS]\n";
    return 2;
  }
  try {
    const std::string name = argv[1];
    const std::size_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000000;
    const int threads = argc > 3 ? std::atoi(argv[3]) : 4;
    timeline::ring tl(name);

    std::mt19937_64 random(42);
    std::vector<std::int64_t> numbers(count);
    for (std::int64_t& number : numbers) number = static_cast<std::int64_t>(random());

    sorter(tl).sort(numbers, 0, count, threads);
    TIMELINE_EVENT(tl, timeline::info, "demo", "sorted $count numbers with $threads", count, threads);
    std::cout << "sorted " << count << " numbers\n";
    summarize(name);
    return std::is_sorted(numbers.begin(), numbers.end()) ? 0 : 1;
  } catch (const timeline::exception& e) {
    std::cerr << "demo: " << e.what() << '\n';
    return 1;
  }
}
