// The members of a struct: how many there are, and their values.
#ifndef TIMELINE_MEMBERS_HPP
#define TIMELINE_MEMBERS_HPP

#include "../timeline.h"

#include <cstddef>
#include <type_traits>
#include <utility>

namespace timeline {
namespace detail {

// Converts to anything: as many of these as an aggregate takes, so many members it has. A number makes a pack
// of them.
template <std::size_t>
struct anything {
  template <class T>
  constexpr operator T() const noexcept;
};

template <class T, class Members, class = void>
struct takes_members : std::false_type {};
template <class T, std::size_t... Index>
struct takes_members<T, std::index_sequence<Index...>, std::void_t<decltype(T{std::declval<anything<Index>>()...})>>
    : std::true_type {};

// Whether an aggregate takes that many values.
template <class T, int Count>
inline constexpr bool takes = takes_members<T, std::make_index_sequence<static_cast<std::size_t>(Count)>>::value;

inline constexpr int most_members = 32;

// The greatest number of values that an aggregate takes, up to `Most`; -1 if there is none.
template <class T, int Most>
constexpr int most_taken() noexcept {
  if constexpr (Most < 0)
    return -1;
  else if constexpr (takes<T, Most>)
    return Most;
  else
    return most_taken<T, Most - 1>();
}

// How many members an aggregate has; -1 if that is not known. No array of C, and no reference, may be among them.
//
// An aggregate takes as many values as it has members. It takes fewer only if the members behind them have a
// default. So a number that it takes, where it does not take one more, is the right one. That `Expected` is it,
// the number of the message, is found at once; only a mistake makes the compiler try the others.
template <class T, int Expected>
constexpr int count_members() noexcept {
  if constexpr (Expected <= TIMELINE_MAX_FIELDS)
    if constexpr (takes<T, Expected>)
      if constexpr (!takes<T, Expected + 1>) return Expected;
  return most_taken<T, most_members + 1>();
}

// Where so many members are known, calls the function with them, as m1 and so on.
#define TIMELINE_BIND_(known, ...)     \
  else if constexpr (count == known) { \
    const auto& [__VA_ARGS__] = value; \
    return function(__VA_ARGS__);      \
  }
#define TIMELINE_8_ m1, m2, m3, m4, m5, m6, m7, m8
#define TIMELINE_16_ TIMELINE_8_, m9, m10, m11, m12, m13, m14, m15, m16
#define TIMELINE_24_ TIMELINE_16_, m17, m18, m19, m20, m21, m22, m23, m24
#define TIMELINE_32_ TIMELINE_24_, m25, m26, m27, m28, m29, m30, m31, m32

// Calls a function with the members of an aggregate, of which `Expected` are expected.
template <int Expected, class T, class Function>
decltype(auto) with_members(const T& value, Function&& function) {
  constexpr int count = count_members<T, Expected>();
  static_assert(count <= most_members, "timeline: a declared event has at most 32 members");
  static_assert(count >= 0 || !std::is_aggregate_v<T>,
                "timeline: the members of a declared event cannot be counted: none may be a reference");
  if constexpr (count == 0) {
    return function();
  }
  TIMELINE_BIND_(1, m1)
  TIMELINE_BIND_(2, m1, m2)
  TIMELINE_BIND_(3, m1, m2, m3)
  TIMELINE_BIND_(4, m1, m2, m3, m4)
  TIMELINE_BIND_(5, m1, m2, m3, m4, m5)
  TIMELINE_BIND_(6, m1, m2, m3, m4, m5, m6)
  TIMELINE_BIND_(7, m1, m2, m3, m4, m5, m6, m7)
  TIMELINE_BIND_(8, TIMELINE_8_)
  TIMELINE_BIND_(9, TIMELINE_8_, m9)
  TIMELINE_BIND_(10, TIMELINE_8_, m9, m10)
  TIMELINE_BIND_(11, TIMELINE_8_, m9, m10, m11)
  TIMELINE_BIND_(12, TIMELINE_8_, m9, m10, m11, m12)
  TIMELINE_BIND_(13, TIMELINE_8_, m9, m10, m11, m12, m13)
  TIMELINE_BIND_(14, TIMELINE_8_, m9, m10, m11, m12, m13, m14)
  TIMELINE_BIND_(15, TIMELINE_8_, m9, m10, m11, m12, m13, m14, m15)
  TIMELINE_BIND_(16, TIMELINE_16_)
  TIMELINE_BIND_(17, TIMELINE_16_, m17)
  TIMELINE_BIND_(18, TIMELINE_16_, m17, m18)
  TIMELINE_BIND_(19, TIMELINE_16_, m17, m18, m19)
  TIMELINE_BIND_(20, TIMELINE_16_, m17, m18, m19, m20)
  TIMELINE_BIND_(21, TIMELINE_16_, m17, m18, m19, m20, m21)
  TIMELINE_BIND_(22, TIMELINE_16_, m17, m18, m19, m20, m21, m22)
  TIMELINE_BIND_(23, TIMELINE_16_, m17, m18, m19, m20, m21, m22, m23)
  TIMELINE_BIND_(24, TIMELINE_24_)
  TIMELINE_BIND_(25, TIMELINE_24_, m25)
  TIMELINE_BIND_(26, TIMELINE_24_, m25, m26)
  TIMELINE_BIND_(27, TIMELINE_24_, m25, m26, m27)
  TIMELINE_BIND_(28, TIMELINE_24_, m25, m26, m27, m28)
  TIMELINE_BIND_(29, TIMELINE_24_, m25, m26, m27, m28, m29)
  TIMELINE_BIND_(30, TIMELINE_24_, m25, m26, m27, m28, m29, m30)
  TIMELINE_BIND_(31, TIMELINE_24_, m25, m26, m27, m28, m29, m30, m31)
  TIMELINE_BIND_(32, TIMELINE_32_)
}

#undef TIMELINE_BIND_
#undef TIMELINE_8_
#undef TIMELINE_16_
#undef TIMELINE_24_
#undef TIMELINE_32_

}  // namespace detail
}  // namespace timeline

#endif  // TIMELINE_MEMBERS_HPP
