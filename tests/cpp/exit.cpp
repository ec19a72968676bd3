// Threads that log while the program ends, by everything that is destroyed then. exit DIR HOW: an empty directory,
// and how it ends: return, exit, quick_exit, last (the thread that is left ends), twice (the program goes on).
#include <timeline.hpp>

#include <pthread.h>

#include <atomic>
#include <iostream>
#include <thread>

namespace {

std::string path;
std::atomic<std::uint64_t> logged{0};
std::atomic<bool> goes_on{true};

// What programs have: a ring and tracepoints with static storage, some in an object.
struct application {
  timeline::ring tl{path, 4096};
  timeline::tracepoint<> counted = tl.define("exit", timeline::info, "counted $n");
  timeline::typed_tracepoint<std::string> said = tl.define<std::string>("exit", timeline::info, "said $text");
  timeline::span_events<> breath = tl.define_span("exit", timeline::info, "breath $n");
};
application& app() {
  static application one;
  return one;
}

struct declared {
  static constexpr auto event = timeline::declared("exit", timeline::info, "declared $n");
  std::uint64_t n;
};

void work(application* app) {
  for (std::uint64_t n = 0; goes_on; n++) {
    TIMELINE_EVENT(app->tl, timeline::info, "exit", "round $n by $text", n, "text");
    TIMELINE_PRINTF(app->tl, timeline::info, "round %d", static_cast<int>(n));
    TIMELINE_SPAN(app->tl, timeline::info, "exit", "turn $n", n);
    if (n % 64 == 0) TIMELINE_IMPORTANT_EVENT(app->tl, timeline::info, "exit", "important $n", n);
    app->counted(n);
    app->said("a text");
    app->tl.log(declared{n});
    const auto running = app->breath(n);
    if (n % 256 == 0) {
      // What is not logging says that it is closed, and throws.
      try {
        app->tl.define("exit", timeline::info, "late");
        app->tl.priority(timeline::all);
        app->tl.thread("worker");
      } catch (const timeline::exception&) {
      }
      (void)app->tl.level();
      (void)app->tl.dropped_important();
    }
    logged++;
  }
}

struct last_of_all {
  ~last_of_all() {
    // Once everything else was destroyed, all threads still log some more, if there are any.
    const auto before = logged.load();
    while (goes_on && logged < before + 200) std::this_thread::yield();
  }
};

}  // namespace

int main(int, char** argv) {
  path = std::string(argv[1]) + "/ring";
  const std::string how = argv[2];
  // Before the application: destroyed behind it.
  static last_of_all last;
  application* const used = &app();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) threads.emplace_back(work, used);
  while (logged < 100) std::this_thread::yield();
  if (how == "twice") {
    // Closed and made again, more often than a process can have timelines, while threads log by the first.
    used->~application();
    for (int round = 0; round < 50; round++) {
      timeline::ring other(path + "-other", 1024);
      const auto event = other.define("exit", timeline::info, "other $n");
      event(round);
      const auto before = logged.load();
      while (logged < before + 10) std::this_thread::yield();
    }
    goes_on = false;
    for (auto& thread : threads) thread.join();
    new (used) application;
    std::size_t held = 0;
    for (const timeline::event& event : timeline::attached(path + "-other").events())
      held += event.text() == "other n(49)";
    if (held != 1) return std::cerr << held << " events of the last one\n", 1;
    std::cout << "exit: ok" << std::endl;
    goes_on = true;
    threads.clear();
    threads.emplace_back(work, used);
    while (logged < 100) std::this_thread::yield();
  } else {
    std::cout << "exit: ok" << std::endl;
  }
  for (auto& thread : threads) thread.detach();
  if (how == "exit") std::exit(0);
  if (how == "thread") std::thread([] { std::exit(0); }).join();
  if (how == "quick_exit") std::quick_exit(0);
  if (how == "last") {
    std::thread([] {
      const auto before = logged.load();
      while (logged < before + 100) std::this_thread::yield();
      goes_on = false;
    }).detach();
    pthread_exit(nullptr);
  }
  return 0;
}
