// Types of a program, which it has logged as what its function timeline_value returns.
#ifndef TIMELINE_OWN_HPP
#define TIMELINE_OWN_HPP

#include "../timeline.h"

#include <type_traits>
#include <utility>

// Whether a type has a timeline_value. An enum that has one is what that returns, and not its number.
template <class T, class = void>
struct timeline_has_value_ : std::false_type {};
template <class T>
struct timeline_has_value_<T, std::void_t<decltype(timeline_value(std::declval<const T&>()))>> : std::true_type {};

// Whether it may throw.
template <class T, bool = timeline_has_value_<T>::value>
struct timeline_throws_ : std::false_type {};
template <class T>
struct timeline_throws_<T, true> {
  using returned = std::decay_t<decltype(timeline_value(std::declval<const T&>()))>;
  static constexpr bool value =
      !noexcept(timeline_value(std::declval<const T&>())) || timeline_throws_<returned>::value;
};

namespace timeline {
namespace detail {

// Whether logging such arguments cannot throw: only a timeline_value can, and then nothing is logged.
template <class... Arguments>
inline constexpr bool never_throw = !(timeline_throws_<Arguments>::value || ...);

}  // namespace detail
}  // namespace timeline

// What timeline_value returned. The value of the argument may refer to it: so it lives until the words of the
// event are stored. It may itself have a timeline_value.
template <class Returned>
struct timeline_kept_ {
  using argument = timeline_argument_<std::remove_cv_t<std::remove_reference_t<Returned>>>;
  template <class T>
  explicit timeline_kept_(const T& value) : returned(timeline_value(value)), made(argument::of(returned)) {}
  timeline_kept_(const timeline_kept_&) = delete;
  timeline_kept_& operator=(const timeline_kept_&) = delete;
  operator timeline_value_t() const noexcept { return made; }

 private:
  Returned returned;
  decltype(argument::of(std::declval<const Returned&>())) made;
};

template <class T>
struct timeline_argument_<T, std::enable_if_t<timeline_has_value_<T>::value>> {
  using returned = decltype(timeline_value(std::declval<const T&>()));
  enum : unsigned { type = timeline_kept_<returned>::argument::type };
  static timeline_kept_<returned> of(const T& value) { return timeline_kept_<returned>(value); }
};

#endif  // TIMELINE_OWN_HPP
