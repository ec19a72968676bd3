// A value of an event that was read.
#ifndef TIMELINE_VALUE_HPP
#define TIMELINE_VALUE_HPP

#include "../timeline.h"
#include "error.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace timeline {

// A value of an event. Its text or its elements are part of the event: they stay as long as the event, or a copy of
// the event.
class value {
 public:
  // TIMELINE_IS_NULL to TIMELINE_IS_ARRAY.
  std::uint32_t kind() const noexcept { return c_.kind; }
  // The type, as the message has it: TIMELINE_I64 and so on; 0 for a value of printf.
  std::uint32_t type() const noexcept { return c_.type; }
  // Whether it is a text or an array whose pointer was NULL.
  bool is_null() const noexcept { return c_.kind == TIMELINE_IS_NULL; }
  // Whether a text or an array was cut, because there was no room for all of it.
  bool is_cut() const noexcept { return c_.cut; }

  // The value as a number, a std::string_view, a std::string, or a std::vector of numbers: as<int>(). Throws if it is
  // none. A whole number must be of the type, or it throws as well; an array has elements of exactly that type.
  template <class T>
  T as() const {
    if constexpr (std::is_same_v<T, bool>) {
      expect(c_.kind == TIMELINE_IS_SIGNED || c_.kind == TIMELINE_IS_UNSIGNED, "a whole number");
      return c_.integer != 0 || c_.natural != 0;
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(as<std::underlying_type_t<T>>());
    } else if constexpr (std::is_integral_v<T>) {
      return whole<T>();
    } else if constexpr (std::is_floating_point_v<T>) {
      return fraction<T>();
    } else if constexpr (std::is_same_v<T, std::string_view> || std::is_same_v<T, std::string>) {
      expect(c_.kind == TIMELINE_IS_TEXT, "a text");
      return T(static_cast<const char*>(c_.data), c_.count);
    } else {
      return elements<T>();
    }
  }

  const timeline_event_value_t& c() const noexcept { return c_; }

 private:
  friend class event;
  explicit value(const timeline_event_value_t& c) noexcept : c_(c) {}

  static void expect(bool is, const char* what) {
    if (is) return;
    const std::string said = std::string("a value of an event is none of this type: expected ") + what +
                             ", which kind() and type() tell";
    detail::raise(TIMELINE_E_ARGUMENT, said.c_str());
  }

  template <class T>
  T whole() const {
    bool fits = false;
    T number = 0;
    if (c_.kind == TIMELINE_IS_UNSIGNED) {
      number = static_cast<T>(c_.natural);
      fits = number >= 0 && static_cast<std::uint64_t>(number) == c_.natural;
    } else if (c_.kind == TIMELINE_IS_SIGNED) {
      number = static_cast<T>(c_.integer);
      fits = static_cast<std::int64_t>(number) == c_.integer && (number < 0) == (c_.integer < 0);
    }
    expect(fits, "a whole number of that size");
    return number;
  }

  template <class T>
  T fraction() const {
    if (c_.kind == TIMELINE_IS_SIGNED) return static_cast<T>(c_.integer);
    if (c_.kind == TIMELINE_IS_UNSIGNED) return static_cast<T>(c_.natural);
    expect(c_.kind == TIMELINE_IS_FLOAT || c_.kind == TIMELINE_IS_LONG_DOUBLE, "a number");
#if defined(__x86_64__)
    if constexpr (sizeof(T) == sizeof c_.extended) {
      if (c_.kind == TIMELINE_IS_LONG_DOUBLE) {
        T number;
        std::memcpy(&number, c_.extended, sizeof number);
        return number;
      }
    }
#endif
    return static_cast<T>(c_.number);
  }

  template <class T>
  T elements() const {
    using element = typename T::value_type;
    constexpr std::uint32_t letter = std::is_floating_point_v<element> ? TIMELINE_F32
                                     : std::is_signed_v<element>       ? TIMELINE_I8
                                                                       : TIMELINE_U8;
    static_assert(std::is_same_v<T, std::vector<element>> && std::is_arithmetic_v<element> &&
                      !std::is_same_v<element, bool> && sizeof(element) <= 8,
                  "timeline: a value is read as a number, a std::string_view, a std::string or a std::vector of "
                  "numbers");
    expect(c_.kind == TIMELINE_IS_ARRAY && c_.element_size == sizeof(element) && first_of(c_.type) == letter,
           "an array of such elements");
    T found(c_.count);
    if (c_.count > 0) std::memcpy(found.data(), c_.data, c_.count * sizeof(element));
    return found;
  }

  // The first of the types that are signed, unsigned or have fractions like the elements of an array.
  static std::uint32_t first_of(std::uint32_t array) noexcept {
    const std::uint32_t type = array & ~std::uint32_t{TIMELINE_ARRAY_OF};
    if (type >= TIMELINE_F32) return TIMELINE_F32;
    if (type >= TIMELINE_U8) return TIMELINE_U8;
    return TIMELINE_I8;
  }

  timeline_event_value_t c_;
};

}  // namespace timeline

#endif  // TIMELINE_VALUE_HPP
