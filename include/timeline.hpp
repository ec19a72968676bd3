// timeline.hpp: the C++17 interface of libtimeline, header only, over timeline.h.
//
//   timeline::ring tl("/timeline");
//   auto processed = tl.define("example", timeline::trace, "processed $tcp, $udp, and $other");
//   processed(10, 20, 3);
//   TIMELINE_EVENT(tl, timeline::info, "example", "resized $name to $size:bytes", name, buffer.size());
//   TIMELINE_PRINTF(tl, timeline::info, "took %d ms for %s", ms, name.c_str());
//
//   timeline::attached at("/timeline");
//   for (const timeline::event& event : at.events(timeline::newest_first))
//     std::cout << event.core() << ' ' << event.text() << '\n';
//
// Making, defining, saving and reading throw timeline::exception. Logging never throws, except if a
// tracepoint<> is called with a wrong number of arguments (TIMELINE_EVENT, TIMELINE_DEFINE and
// tracepoint<N> check it at compile time). timeline.h documents every call.
#ifndef TIMELINE_HPP
#define TIMELINE_HPP

#if __cplusplus < 201703L
#error "timeline.hpp needs C++17 or a later standard: compile with -std=c++17"
#else

#include "timeline.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#if __cplusplus >= 202002L
#include <span>
#endif
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace timeline {

// Thrown by a failed call: status() is one of TIMELINE_E_..., what() says what was expected, what
// came and what to do.
class exception : public std::runtime_error {
 public:
  exception(timeline_status_t status, const char* what) : std::runtime_error(what), status_(status) {}
  timeline_status_t status() const noexcept { return status_; }

 private:
  timeline_status_t status_;
};

// The priority of an event.
enum class priority : std::int32_t {
  error = TIMELINE_ERROR,
  warning = TIMELINE_WARNING,
  info = TIMELINE_INFO,
  trace = TIMELINE_TRACE,
  app = TIMELINE_APP,
  packet = TIMELINE_PACKET,
  library = TIMELINE_LIBRARY,
};
inline constexpr priority error = priority::error;
inline constexpr priority warning = priority::warning;
inline constexpr priority info = priority::info;
inline constexpr priority trace = priority::trace;
inline constexpr priority app = priority::app;
inline constexpr priority packet = priority::packet;
inline constexpr priority library = priority::library;

// What a definition says besides category, priority and message: attributes{"itv|bbc", false}.
using attributes = timeline_attributes_t;

// How much is logged: events of a priority and of more important ones, all, or none.
class level {
 public:
  constexpr level(priority least) noexcept : number_(static_cast<std::int32_t>(least)) {}
  constexpr explicit level(std::int32_t number) noexcept : number_(number) {}
  constexpr std::int32_t number() const noexcept { return number_; }
  friend constexpr bool operator==(level a, level b) noexcept { return a.number_ == b.number_; }
  friend constexpr bool operator!=(level a, level b) noexcept { return a.number_ != b.number_; }

 private:
  std::int32_t number_;
};
inline constexpr level none{std::int32_t{TIMELINE_NONE}};
inline constexpr level all{std::int32_t{TIMELINE_ALL}};

// Where a walk over events begins, and where a follower begins.
enum class order : std::int32_t { oldest_first = TIMELINE_OLDEST_FIRST, newest_first = TIMELINE_NEWEST_FIRST };
inline constexpr order oldest_first = order::oldest_first;
inline constexpr order newest_first = order::newest_first;
enum class from : std::int32_t { oldest = TIMELINE_FROM_OLDEST, now = TIMELINE_FROM_NOW };

namespace detail {

// In programs compiled without exceptions, an error ends the program with its message.
[[noreturn]] inline void raise(timeline_status_t status, const char* what) {
#if defined(__cpp_exceptions)
  throw exception(status, what);
#else
  std::fprintf(stderr, "timeline: %s (status %d)\n", what, static_cast<int>(status));
  std::abort();
#endif
}

inline void check(timeline_status_t status) {
  if (status != TIMELINE_OK) raise(status, timeline_last_error());
}

// A text for C. C refuses NULL; a std::string with a NUL inside, which C would cut short, is
// refused here.
class text {
 public:
  text(const char* c) noexcept : c_(c) {}
  text(const std::string& s) : c_(s.c_str()) {
    if (std::strlen(c_) != s.size())
      raise(TIMELINE_E_ARGUMENT, "a text holds a NUL character: expected text that C can read; remove it");
  }
  const char* c() const noexcept { return c_; }

 private:
  const char* c_;
};

template <class>
inline constexpr bool never = false;

// A whole number, enumerator, bool or pointer, as the 64 bits of an event's argument.
template <class T>
constexpr std::int64_t argument(T value) noexcept {
  if constexpr (std::is_same_v<T, std::nullptr_t>) {
    return 0;
  } else if constexpr (std::is_pointer_v<T>) {
    return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(value));
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<std::int64_t>(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_integral_v<T> && sizeof(T) <= sizeof(std::int64_t)) {
    return static_cast<std::int64_t>(value);
  } else {
    static_assert(never<T>, "timeline: an argument is a whole number of at most 64 bits, an enumerator, a bool "
                            "or a pointer; scale or convert anything else first");
    return 0;
  }
}

inline constexpr std::size_t max_arguments = 4;

template <class... Arguments>
void log(const timeline_t* tl, std::uint32_t event, Arguments... arguments) noexcept {
  static_assert(sizeof...(Arguments) <= max_arguments, "timeline: an event has at most four arguments");
  const std::int64_t args[max_arguments] = {argument(arguments)...};
  ::timeline_log(tl, event, args[0], args[1], args[2], args[3]);
}

constexpr bool is_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// How many $arguments the first line of a message has: timeline_fields at compile time.
constexpr int count_arguments(const char* message) noexcept {
  int count = 0;
  for (; *message != '\0' && *message != '\n' && *message != '\r'; ++message)
    if (*message == '$' && is_name(message[1])) ++count;
  return count;
}

}  // namespace detail

// The Count of a tracepoint whose number of arguments is only known at run time.
inline constexpr int any = -1;

// A defined event: call it with its arguments to log it. tracepoint<3> takes exactly three, checked
// by the compiler; tracepoint<> checks every call, logged or not, and throws when the number is
// wrong.
//
// Keeps its timeline open; copies are cheap. A default-constructed or moved-from one logs nothing.
// Any thread.
template <int Count = any>
class tracepoint {
 public:
  tracepoint() noexcept = default;

  template <class... Arguments>
  void operator()(Arguments... arguments) const noexcept(Count != any) {
    static_assert(sizeof...(Arguments) <= detail::max_arguments, "timeline: an event has at most four arguments");
    if constexpr (Count == any) {
      if (tl_ && sizeof...(Arguments) != count_) refuse(sizeof...(Arguments));
    } else {
      static_assert(sizeof...(Arguments) == Count,
                    "timeline: the call has another number of arguments than the message has $arguments");
    }
    if (enabled()) detail::log(tl_.get(), event_, arguments...);
  }

  // Whether a call would log: ask before computing costly arguments.
  bool enabled() const noexcept { return ::timeline_enabled(tl_.get(), event_); }
  // The number of the event, for timeline_log; 0 for one that logs nothing.
  std::uint32_t id() const noexcept { return event_; }
  std::size_t argument_count() const noexcept { return count_; }

 private:
  friend class ring;
  tracepoint(std::shared_ptr<timeline_t> tl, std::uint32_t event, std::uint32_t count) noexcept
      : tl_(std::move(tl)), event_(event), count_(count) {}

  [[noreturn]] void refuse(std::size_t given) const {
    const std::string what = "event " + std::to_string(event_) + " has " + std::to_string(count_) +
                             " arguments, but was called with " + std::to_string(given) +
                             ": give as many as its message names";
    detail::raise(TIMELINE_E_ARGUMENT, what.c_str());
  }

  std::shared_ptr<timeline_t> tl_;
  std::uint32_t event_ = 0;
  std::uint32_t count_ = static_cast<std::uint32_t>(Count == any ? 0 : Count);
};

// Sampling under way, until destroyed or stopped.
class sampler {
 public:
  sampler() noexcept = default;
  void stop() noexcept { running_.reset(); }
  explicit operator bool() const noexcept { return running_ != nullptr; }

 private:
  friend class ring;
  struct stopper {
    void operator()(timeline_sampler_t* running) const noexcept { ::timeline_sampler_free(running); }
  };
  explicit sampler(timeline_sampler_t* running) noexcept : running_(running) {}
  std::unique_ptr<timeline_sampler_t, stopper> running_;
};

// Options to make or join a timeline; value-initialised, they are the defaults.
using options = ::timeline_options_t;

// Attributes of a definition; value-initialised, they are the defaults.
using attributes = ::timeline_attributes_t;

// A timeline to write to. Any thread may use it at any time, but only one may move or destroy it. A
// moved-from ring logs nothing, and throws from functions that need a timeline.
class ring {
 public:
  // Makes a timeline (timeline_new); 0 stands for the default sizes.
  explicit ring(detail::text path, std::uint64_t entries = 0, std::uint64_t string_table_size = 0) {
    timeline_t* tl = nullptr;
    detail::check(::timeline_new(path.c(), entries, string_table_size, &tl));
    own(tl);
  }

  // Makes a timeline with options (timeline_new_with).
  ring(detail::text path, const options& how) {
    timeline_t* tl = nullptr;
    detail::check(::timeline_new_with(path.c(), &how, &tl));
    own(tl);
  }

  // Joins one that exists (timeline_open).
  static ring open(detail::text path, const options& how = {}) {
    timeline_t* tl = nullptr;
    detail::check(::timeline_open_with(path.c(), &how, &tl));
    return take(tl);
  }

  // Joins one that is live, or else makes it (timeline_open_or_create).
  static ring open_or_create(detail::text path, const options& how = {}) {
    timeline_t* tl = nullptr;
    detail::check(::timeline_open_or_create(path.c(), &how, &tl));
    return take(tl);
  }

  // Takes ownership of a handle from C. NULL makes a ring that logs nothing.
  static ring take(timeline_t* tl) {
    ring taken{empty{}};
    if (tl) taken.own(tl);
    return taken;
  }

  ring(ring&&) noexcept = default;
  ring& operator=(ring&&) noexcept = default;
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  // Defines an event whose number of arguments is checked by every call.
  tracepoint<> define(detail::text category, ::timeline::priority priority, detail::text message,
                      const attributes& with = {}) const {
    return define<any>(category, priority, message, with);
  }

  // Defines an event whose calls the compiler checks; throws unless the message has Count
  // arguments.
  template <int Count>
  tracepoint<Count> define(detail::text category, ::timeline::priority priority, detail::text message,
                           const attributes& with = {}) const {
    static_assert(Count >= any && Count <= static_cast<int>(detail::max_arguments),
                  "timeline: a message has at most four $arguments");
    std::uint32_t count = 0;
    timeline_field_t fields[TIMELINE_MAX_FIELDS];
    detail::check(::timeline_fields(message.c(), fields, &count));
    for (std::uint32_t i = 0; i < count; ++i)
      if (fields[i].type == TIMELINE_F32 || fields[i].type == TIMELINE_F64 || fields[i].type >= TIMELINE_STR) {
        const std::string name(fields[i].name, fields[i].name_length);
        const std::string what = "a tracepoint takes whole numbers, but $" + name + " is not one: log it by " +
                                 "TIMELINE_EVENT";
        detail::raise(TIMELINE_E_ARGUMENT, what.c_str());
      }
    if (count > detail::max_arguments) {
      const std::string what = "a tracepoint takes at most four arguments, but the message has " +
                               std::to_string(count) + ": log it by TIMELINE_EVENT";
      detail::raise(TIMELINE_E_ARGUMENT, what.c_str());
    }
    if (Count != any && count != static_cast<std::uint32_t>(Count)) {
      const std::string what = "the message has " + std::to_string(count) + " arguments, but define<" +
                               std::to_string(Count) + "> was asked for: let both agree";
      detail::raise(TIMELINE_E_ARGUMENT, what.c_str());
    }
    std::uint32_t event = 0;
    detail::check(::timeline_define_with(tl_.get(), category.c(), static_cast<std::int32_t>(priority), message.c(),
                                         &with, &event));
    return tracepoint<Count>(tl_, event, count);
  }

  // Defines all events of a catalogue, a text file, and returns them by name: load("engine.events").at("engine.start").
  std::map<std::string, tracepoint<>> load(detail::text file) const {
    timeline_catalogue_t* made = nullptr;
    detail::check(::timeline_define_file(tl_.get(), file.c(), &made));
    const std::unique_ptr<timeline_catalogue_t, void (*)(timeline_catalogue_t*)> owner(made, ::timeline_catalogue_free);
    std::map<std::string, tracepoint<>> events;
    timeline_defined_t one;
    for (std::uint32_t i = 0; ::timeline_defined(made, i, &one) == TIMELINE_OK; ++i)
      events.emplace(one.name, define(one.category, static_cast<::timeline::priority>(one.priority), one.message,
                                      attributes{one.channels, false}));
    return events;
  }

  // How many important events were dropped so far, because there was no room left for them.
  std::uint64_t dropped_important() const noexcept { return ::timeline_dropped_important(tl_.get()); }

  // Sets the level for every thread and process that writes to this timeline; takes effect at once.
  void priority(::timeline::level level) const { detail::check(::timeline_priority(tl_.get(), level.number())); }
  ::timeline::level level() const noexcept { return ::timeline::level{::timeline_level(tl_.get())}; }

  // Says which events are logged, by category and by name: "info,engine=packet,-engine.idle_*". See timeline_switch.
  void switch_events(detail::text rules) const { detail::check(::timeline_switch(tl_.get(), rules.c())); }

  // Switches a channel on or off, for every process. See timeline_channel.
  void channel(detail::text name, bool on) const { detail::check(::timeline_channel(tl_.get(), name.c(), on)); }

  // Follows an argument such as -trace=itv,bbc:packet; false if it is another one. See timeline_option.
  bool option(detail::text argument) const {
    const timeline_status_t status = ::timeline_option(tl_.get(), argument.c());
    if (status != TIMELINE_END) detail::check(status);
    return status == TIMELINE_OK;
  }

  // Names the calling thread, and puts it in a group of threads: see timeline_thread. An empty name
  // stands for the system's, an empty group for none.
  void thread(detail::text name, detail::text group = "") const {
    detail::check(::timeline_thread(tl_.get(), name.c(), group.c()));
  }

  // Raises the level for a short time at a fixed period, until the sampler is destroyed.
  sampler sample(::timeline::level level, std::chrono::nanoseconds duration, std::chrono::nanoseconds period) const {
    if (duration.count() < 0 || period.count() < 0)
      detail::raise(TIMELINE_E_ARGUMENT, "a time to sample for is negative: expected a duration and a longer period");
    timeline_sampler_t* running = nullptr;
    detail::check(::timeline_sample(tl_.get(), level.number(), static_cast<std::uint64_t>(duration.count()),
                                    static_cast<std::uint64_t>(period.count()), &running));
    return sampler(running);
  }

  // Saves every event to a file, in the binary format.
  void save(detail::text file) const { detail::check(::timeline_save(tl_.get(), file.c())); }

  // The handle for the functions of timeline.h, still owned by this ring; NULL when moved from.
  timeline_t* c() const noexcept { return tl_.get(); }
  explicit operator bool() const noexcept { return tl_ != nullptr; }

 private:
  struct empty {};
  explicit ring(empty) noexcept {}
  void own(timeline_t* tl) { tl_ = std::shared_ptr<timeline_t>(tl, ::timeline_free); }

  // Shared with the tracepoints, so that none can outlive its timeline.
  std::shared_ptr<timeline_t> tl_;
};

// An event from a cursor. Copies are cheap, but the views of category(), message() and file() are
// only valid until both the attached timeline and the cursor are gone.
class event {
 public:
  using time_point = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

  event() noexcept : c_() { c_.category = c_.message = c_.file = ""; }
  std::uint64_t ticks() const noexcept { return c_.ticks; }
  // The wall-clock time; 1970 when not known yet.
  time_point time() const noexcept {
    return time_point(std::chrono::nanoseconds(static_cast<std::int64_t>(c_.unix_nanos)));
  }
  std::uint32_t id() const noexcept { return c_.event; }
  std::uint32_t tid() const noexcept { return c_.tid; }
  std::uint32_t pid() const noexcept { return c_.pid; }
  ::timeline::priority priority() const noexcept { return static_cast<::timeline::priority>(c_.priority); }
  std::uint16_t core() const noexcept { return c_.core; }
  std::uint16_t node() const noexcept { return c_.node; }
  // How many entries are missing right before it, among those of its CPU or thread: they were
  // overwritten.
  std::uint64_t missed() const noexcept { return c_.missed; }
  // Whether it is an important event. These come before all others.
  bool important() const noexcept { return c_.important; }
  std::size_t argument_count() const noexcept { return c_.argument_count; }
  // The arguments: argument_count() of them.
  const std::int64_t* begin() const noexcept { return c_.args; }
  const std::int64_t* end() const noexcept { return c_.args + c_.argument_count; }
  std::int64_t operator[](std::size_t i) const {
    if (i >= detail::max_arguments) detail::raise(TIMELINE_E_ARGUMENT, "an event has at most four arguments");
    return c_.args[i];
  }
  std::string_view category() const noexcept { return c_.category; }
  std::string_view message() const noexcept { return c_.message; }
  std::string_view thread() const noexcept { return c_.thread; }
  std::string_view group() const noexcept { return c_.group; }
  std::string_view process() const noexcept { return c_.process; }
  // The source file and line of a TIMELINE_PRINTF; "" and 0 for other events.
  std::string_view file() const noexcept { return c_.file; }
  std::uint32_t line() const noexcept { return c_.line; }
  // The call stack of TIMELINE_BACKTRACE: return addresses, innermost first.
  std::vector<std::uint64_t> backtrace() const { return {c_.backtrace, c_.backtrace + c_.backtrace_count}; }

  // The text: "processed tcp(10), udp(20), and other(3)", or exactly what printf would have
  // written.
  std::string text() const {
    std::size_t needed = 0;
    detail::check(::timeline_render(&c_, nullptr, 0, &needed));
    std::string rendered(needed + 1, '\0');
    detail::check(::timeline_render(&c_, rendered.data(), rendered.size(), nullptr));
    rendered.pop_back();
    return rendered;
  }

  const timeline_event_t& c() const noexcept { return c_; }

 private:
  friend class cursor;

  // Copies the payload and the call stack, which C keeps only until the next event.
  void keep() {
    kept_.reset();
    if (c_.backtrace_count == 0 && c_.payload_size == 0) return;
    kept_ = std::make_shared<kept>();
    kept_->backtrace.assign(c_.backtrace, c_.backtrace + c_.backtrace_count);
    kept_->payload.assign(c_.payload, c_.payload + c_.payload_size);
    c_.backtrace = kept_->backtrace.data();
    c_.payload = kept_->payload.data();
  }

  struct kept {
    std::vector<std::uint64_t> backtrace;
    std::vector<std::uint8_t> payload;
  };
  timeline_event_t c_;
  std::shared_ptr<kept> kept_;
};

// One walk over events. When following, begin() again gives the events that have come since. Keeps
// its timeline open. One thread at a time.
class cursor {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = event;
    using difference_type = std::ptrdiff_t;
    using pointer = const event*;
    using reference = const event&;

    iterator() noexcept = default;
    reference operator*() const noexcept { return event_; }
    pointer operator->() const noexcept { return &event_; }
    iterator& operator++() {
      if (!cursor_->next(event_)) cursor_ = nullptr;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.cursor_ == b.cursor_; }
    friend bool operator!=(const iterator& a, const iterator& b) noexcept { return !(a == b); }

   private:
    friend class cursor;
    explicit iterator(cursor* cursor) : cursor_(cursor) { ++*this; }
    cursor* cursor_ = nullptr;
    event event_;
  };

  iterator begin() { return iterator(this); }
  iterator end() noexcept { return iterator(); }

  // Reads the next event into `event`; false when there is none (when following: no new one).
  bool next(event& event) {
    const timeline_status_t status = ::timeline_next(c_.get(), &event.c_);
    if (status == TIMELINE_END) return false;
    detail::check(status);
    event.keep();
    return true;
  }

  // How many entries were overwritten before they were read (a long event takes several); final at
  // the end of the walk.
  std::uint64_t missed() const noexcept { return ::timeline_missed(c_.get()); }

 private:
  friend class attached;
  struct closer {
    void operator()(timeline_cursor_t* c) const noexcept { ::timeline_cursor_free(c); }
  };
  explicit cursor(timeline_cursor_t* c) noexcept : c_(c) {}
  std::unique_ptr<timeline_cursor_t, closer> c_;
};

// A timeline to read: live, left by a crash, or saved. Any thread.
class attached {
 public:
  explicit attached(detail::text path) {
    timeline_attached_t* c = nullptr;
    detail::check(::timeline_attach(path.c(), &c));
    c_.reset(c);
  }

  // The events it holds now, by time.
  cursor events(order order = oldest_first) const {
    timeline_cursor_t* c = nullptr;
    detail::check(::timeline_events(c_.get(), static_cast<std::int32_t>(order), &c));
    return cursor(c);
  }

  // The events as they come; never waits.
  cursor follow(from from = from::now) const {
    timeline_cursor_t* c = nullptr;
    detail::check(::timeline_follow(c_.get(), static_cast<std::int32_t>(from), &c));
    return cursor(c);
  }

 private:
  struct closer {
    void operator()(timeline_attached_t* c) const noexcept { ::timeline_attached_free(c); }
  };
  std::unique_ptr<timeline_attached_t, closer> c_;
};

// Removes the name of a timeline; processes that have it open keep it.
inline void unlink(detail::text path) { detail::check(::timeline_unlink(path.c())); }

// Writes the events of a live or saved timeline as text to a file descriptor, newest to oldest; 0 =
// all.
inline void dump(detail::text path, std::uint64_t max_entries = 0, int fd = 1) {
  detail::check(::timeline_dump(path.c(), max_entries, fd));
}

inline ::timeline::priority parse_priority(detail::text name) {
  std::int32_t number = 0;
  detail::check(::timeline_priority_parse(name.c(), &number));
  return static_cast<::timeline::priority>(number);
}

inline ::timeline::level parse_level(detail::text name) {
  std::int32_t number = 0;
  detail::check(::timeline_level_parse(name.c(), &number));
  return ::timeline::level{number};
}

namespace detail {

inline timeline_t* handle(const ring& tl) noexcept { return tl.c(); }
inline timeline_t* handle(timeline_t* tl) noexcept { return tl; }
inline std::int32_t number(::timeline::priority priority) noexcept { return static_cast<std::int32_t>(priority); }
inline std::int32_t number(std::int32_t level) noexcept { return level; }

// Checks a TIMELINE_EVENT: the types of its arguments are those behind the pointer.
template <int Count, class... Arguments>
constexpr void check_arguments(timeline_types_<Arguments...>*) noexcept {
  static_assert(Count <= TIMELINE_MAX_FIELDS, "timeline: an event has at most 64 arguments");
  static_assert(sizeof...(Arguments) == Count,
                "timeline: the call has another number of arguments than the message has $arguments");
}

template <int Count>
tracepoint<Count> define(const ring& tl, text category, ::timeline::priority priority, text message) {
  return tl.template define<Count>(category, priority, message);
}

}  // namespace detail
}  // namespace timeline

// From here on, TIMELINE_PRINTF and TIMELINE_BACKTRACE of timeline.h also take a ring and a
// timeline::priority.
#undef TIMELINE_HANDLE_
#undef TIMELINE_LEVEL_
#define TIMELINE_HANDLE_(tl) (::timeline::detail::handle(tl))
#define TIMELINE_LEVEL_(level) (::timeline::detail::number(level))

#define TIMELINE_FIRST_(first, ...) first
#define TIMELINE_COUNT_(...) ::timeline::detail::count_arguments(TIMELINE_FIRST_(__VA_ARGS__, 0))

// TIMELINE_DEFINE(tl, category, priority, message): tl.define, with a message that is a literal, so
// that the compiler counts its arguments and checks every call.
#define TIMELINE_DEFINE(tl, category, priority, message) \
  (::timeline::detail::define<TIMELINE_COUNT_(message)>((tl), (category), (priority), (message)))

// TIMELINE_EVENT(tl, priority, category, message, arguments...) of timeline.h also takes a ring and a
// timeline::priority, and the compiler counts the arguments. It takes enumerators, std::string,
// std::string_view, std::vector, std::array and std::span of numbers, and std::chrono::duration, which
// is a number of nanoseconds. For a type of your own, define a function
//
//   auto timeline_value(const mine& value);
//
// beside it, which returns one of these. A text or an array that it returns must outlive the call:
// return a std::string_view and not a std::string. Never throws: an event that cannot be defined is
// never logged.
#undef TIMELINE_CHECK_
#define TIMELINE_CHECK_(...)                                          \
  ::timeline::detail::check_arguments<TIMELINE_COUNT_(__VA_ARGS__)>( \
      false ? timeline_types_of_(__VA_ARGS__) : nullptr)

template <class T>
struct timeline_argument_<T, std::enable_if_t<std::is_enum_v<std::remove_cv_t<T>>>> {
  using number = std::underlying_type_t<std::remove_cv_t<T>>;
  enum : unsigned { type = timeline_argument_<number>::type };
  static timeline_value_t of(const T& value) noexcept {
    return timeline_argument_<number>::of(static_cast<number>(value));
  }
};

template <>
struct timeline_argument_<std::string_view> {
  enum : unsigned { type = TIMELINE_STR };
  static timeline_value_t of(std::string_view text) noexcept {
    return timeline_of_text_(timeline_make_text_(text.data(), text.size()));
  }
};

template <class Allocator>
struct timeline_argument_<std::basic_string<char, std::char_traits<char>, Allocator>>
    : timeline_argument_<std::string_view> {};

// The elements of a container, one behind the other.
template <class T>
struct timeline_numbers_of_ {
  enum : unsigned { type = TIMELINE_ARRAY_OF | timeline_argument_<T>::type };
  template <class Container>
  static timeline_value_t of(const Container& all) noexcept {
    return timeline_argument_<decltype(timeline_array_(all.data(), all.size()))>::of(
        timeline_array_(all.data(), all.size()));
  }
};
template <class T, class Allocator>
struct timeline_argument_<std::vector<T, Allocator>> : timeline_numbers_of_<T> {};
template <class T, std::size_t N>
struct timeline_argument_<std::array<T, N>> : timeline_numbers_of_<T> {};
#if defined(__cpp_lib_span)
template <class T, std::size_t N>
struct timeline_argument_<std::span<T, N>> : timeline_numbers_of_<std::remove_cv_t<T>> {};
#endif

template <class Count, class Period>
struct timeline_argument_<std::chrono::duration<Count, Period>> {
  enum : unsigned { type = TIMELINE_I64 };
  static timeline_value_t of(std::chrono::duration<Count, Period> time) noexcept {
    const std::int64_t count = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
    return timeline_argument_<std::int64_t>::of(count);
  }
};

template <class T>
struct timeline_argument_<T, std::void_t<decltype(timeline_value(std::declval<const T&>()))>> {
  using known = std::remove_cv_t<std::remove_reference_t<decltype(timeline_value(std::declval<const T&>()))>>;
  static_assert(!std::is_same_v<known, std::string>,
                "timeline: timeline_value returns a std::string, which ends before it is copied: return a "
                "std::string_view of text that stays");
  enum : unsigned { type = timeline_argument_<known>::type };
  static timeline_value_t of(const T& value) noexcept { return timeline_argument_<known>::of(timeline_value(value)); }
};

#endif  // C++17
#endif  // TIMELINE_HPP
