// How times and durations of the standard library are logged.
#ifndef TIMELINE_TIME_HPP
#define TIMELINE_TIME_HPP

#include "../timeline.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>

namespace timeline {
namespace detail {

// A time in nanoseconds; the greatest or the least of 64 bits if it is beyond these 292 years, and 0 if it is no
// number.
template <class Count, class Period>
std::int64_t nanoseconds(std::chrono::duration<Count, Period> time) noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  // How many nanoseconds a count is, as a fraction.
  constexpr bool is_long = Period::num > most / 1000000000;
  if constexpr (std::is_integral_v<Count> && sizeof(Count) <= sizeof(std::int64_t) && !is_long) {
    using one = std::ratio_divide<Period, std::nano>;
    const Count count = time.count();
    std::int64_t whole = 0, rest = 0, all = 0;
    const bool is_beyond = __builtin_mul_overflow(count / static_cast<Count>(1), one::num, &whole);
    if constexpr (one::den != 1) {
      if (__builtin_mul_overflow(static_cast<std::int64_t>(count / one::den), one::num, &whole) ||
          __builtin_mul_overflow(static_cast<std::int64_t>(count % one::den), one::num, &rest) ||
          __builtin_add_overflow(whole, rest / one::den, &all))
        return count < 0 ? least : most;
      return all;
    }
    if (is_beyond) return count < 0 ? least : most;
    return whole;
  } else {
    const long double count = static_cast<long double>(time.count()) * static_cast<long double>(Period::num) *
                              1e9L / static_cast<long double>(Period::den);
    if (count >= 9223372036854775807.0L) return most;
    if (count <= -9223372036854775808.0L) return least;
    return count == count ? static_cast<std::int64_t>(count) : 0;
  }
}

}  // namespace detail
}  // namespace timeline

template <class Count, class Period>
struct timeline_argument_<std::chrono::duration<Count, Period>> {
  enum : unsigned { type = TIMELINE_NS };
  static timeline_value_t of(std::chrono::duration<Count, Period> time) noexcept {
    const auto count = static_cast<std::uint64_t>(::timeline::detail::nanoseconds(time));
    return timeline_value_(count, 0);
  }
};
template <class Duration>
struct timeline_argument_<std::chrono::time_point<std::chrono::system_clock, Duration>> {
  enum : unsigned { type = TIMELINE_TIME };
  static timeline_value_t of(std::chrono::time_point<std::chrono::system_clock, Duration> time) noexcept {
    const auto since = static_cast<std::uint64_t>(::timeline::detail::nanoseconds(time.time_since_epoch()));
    return timeline_value_(since, 0);
  }
};
template <class Clock, class Duration>
struct timeline_argument_<std::chrono::time_point<Clock, Duration>> : timeline_no_argument_ {
  static_assert(std::is_same_v<Clock, std::chrono::system_clock>,
                "timeline: the time of a clock other than system_clock has no date that readers could show: log a "
                "duration, such as its time_since_epoch()");
};

#endif  // TIMELINE_TIME_HPP
