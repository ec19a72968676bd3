// Defined events, which log when they are called.
#ifndef TIMELINE_TRACEPOINT_HPP
#define TIMELINE_TRACEPOINT_HPP

#include "../timeline.h"
#include "error.hpp"
#include "own.hpp"
#include "owner.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

// With TIMELINE_DISABLED, tracepoints and declared events log nothing. Whether they log is a parameter of
// each function that logs, so that files compiled in either way go into one program.
#ifdef TIMELINE_DISABLED
#define TIMELINE_LOGS_ false
#else
#define TIMELINE_LOGS_ true
#endif

namespace timeline {
namespace detail {

template <class>
inline constexpr bool never = false;

// A whole number, enumerator, bool or pointer, as the 64 bits of an event's argument.
template <class T>
constexpr std::int64_t argument(T value) noexcept {
  if constexpr (std::is_same_v<T, std::nullptr_t>) {
    return 0;
  } else if constexpr (std::is_pointer_v<T>) {
    return std::int64_t{reinterpret_cast<std::intptr_t>(value)};
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
  (::timeline_log)(tl, event, args[0], args[1], args[2], args[3]);
}

// Logs an event that is enabled. `marked`: which of its texts are to be interned.
template <class... Arguments>
void log_values(timeline_t* tl, std::uint32_t event, std::uint64_t marked,
                const Arguments&... arguments) noexcept(never_throw<Arguments...>) {
  timeline_log_event_<Arguments...>(tl, event, marked, arguments...);
}

}  // namespace detail

// An event defined with the types of its arguments: ring::define<std::uint32_t, std::string_view>. Call it
// with them to log it. They are what TIMELINE_EVENT takes. Keeps its timeline open; copies are cheap. A
// default-constructed or moved-from one logs nothing. Any thread.
template <class... Arguments>
class typed_tracepoint {
 public:
  typed_tracepoint() noexcept = default;

  template <bool Logs = TIMELINE_LOGS_>
  void operator()(const Arguments&... arguments) const noexcept(detail::never_throw<Arguments...>) {
    if (Logs && enabled()) detail::log_values<Arguments...>(tl_.get(), event_, marked_, arguments...);
  }

  // Whether a call would log: ask before computing costly arguments.
  bool enabled() const noexcept { return ::timeline_enabled(tl_.get(), event_); }
  // The number of the event; 0 for one that logs nothing.
  std::uint32_t id() const noexcept { return event_; }

 private:
  friend class ring;
  typed_tracepoint(detail::owner tl, std::uint32_t event, std::uint64_t marked) noexcept
      : tl_(std::move(tl)), event_(event), marked_(marked) {}

  detail::owner tl_;
  std::uint32_t event_ = 0;
  // Which arguments are texts to be interned.
  std::uint64_t marked_ = 0;
};

// The Count of a tracepoint whose number of arguments is only known at run time.
inline constexpr int any = -1;

template <int Count>
class span_events;

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

  template <bool Logs = TIMELINE_LOGS_, class... Arguments>
  void operator()(Arguments... arguments) const noexcept(Count != any) {
    static_assert(sizeof...(Arguments) <= detail::max_arguments, "timeline: an event has at most four arguments");
    if constexpr (Count == any) {
      if (Logs && tl_ && sizeof...(Arguments) != count_) refuse(sizeof...(Arguments));
    } else {
      static_assert(sizeof...(Arguments) == Count,
                    "timeline: the call has another number of arguments than the message has $arguments");
    }
    if (Logs && enabled()) detail::log(tl_.get(), event_, arguments...);
  }

  // Whether a call would log: ask before computing costly arguments.
  bool enabled() const noexcept { return ::timeline_enabled(tl_.get(), event_); }
  // The number of the event, for timeline_log; 0 for one that logs nothing.
  std::uint32_t id() const noexcept { return event_; }
  std::size_t argument_count() const noexcept { return count_; }

 private:
  friend class ring;
  friend class span_events<Count>;
  tracepoint(detail::owner tl, std::uint32_t event, std::uint32_t count) noexcept
      : tl_(std::move(tl)), event_(event), count_(count) {}

  [[noreturn]] void refuse(std::size_t given) const {
    const std::string what = "event " + std::to_string(event_) + " has " + std::to_string(count_) +
                             " arguments, but was called with " + std::to_string(given) +
                             ": give as many as its message names";
    detail::raise(TIMELINE_E_ARGUMENT, what.c_str());
  }

  detail::owner tl_;
  std::uint32_t event_ = 0;
  std::uint32_t count_ = static_cast<std::uint32_t>(Count == any ? 0 : Count);
};

}  // namespace timeline

#endif  // TIMELINE_TRACEPOINT_HPP
