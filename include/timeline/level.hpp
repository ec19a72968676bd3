// Priorities of events, and how much of them is logged.
#ifndef TIMELINE_LEVEL_HPP
#define TIMELINE_LEVEL_HPP

#include "../timeline.h"
#include "error.hpp"

#include <cstdint>

namespace timeline {

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

}  // namespace timeline

#endif  // TIMELINE_LEVEL_HPP
