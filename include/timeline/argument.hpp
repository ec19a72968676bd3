// How enumerators, and texts and containers of the standard library, are logged.
#ifndef TIMELINE_ARGUMENT_HPP
#define TIMELINE_ARGUMENT_HPP

#include "../timeline.h"
#include "own.hpp"

#include <array>
#include <cstddef>
#include <optional>
#if __cplusplus >= 202002L
#include <span>
#endif
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

template <class T>
struct timeline_argument_<
    T, std::enable_if_t<std::is_enum_v<std::remove_cv_t<T>> && !timeline_has_value_<T>::value>> {
  using number = std::underlying_type_t<std::remove_cv_t<T>>;
  enum : unsigned { type = timeline_argument_<number>::type };
  static timeline_value_t of(const T& value) noexcept {
    return timeline_argument_<number>::of(static_cast<number>(value));
  }
};

template <class Traits>
struct timeline_argument_<std::basic_string_view<char, Traits>> {
  enum : unsigned { type = TIMELINE_SIZED_TEXT_ };
  static timeline_value_t of(std::basic_string_view<char, Traits> text) noexcept {
    return timeline_value_(timeline_address_(text.data()), text.size());
  }
};
template <class Traits, class Allocator>
struct timeline_argument_<std::basic_string<char, Traits, Allocator>>
    : timeline_argument_<std::basic_string_view<char, Traits>> {};
template <class Traits>
struct timeline_argument_<std::basic_string_view<wchar_t, Traits>> {
  enum : unsigned { type = TIMELINE_SIZED_WIDE_ };
  static timeline_value_t of(std::basic_string_view<wchar_t, Traits> text) noexcept {
    return timeline_value_(timeline_address_(text.data()), text.size());
  }
};
template <class Traits, class Allocator>
struct timeline_argument_<std::basic_string<wchar_t, Traits, Allocator>>
    : timeline_argument_<std::basic_string_view<wchar_t, Traits>> {};
#if defined(__cpp_char8_t)
template <class Traits>
struct timeline_argument_<std::basic_string_view<char8_t, Traits>> {
  enum : unsigned { type = TIMELINE_SIZED_TEXT_ };
  static timeline_value_t of(std::basic_string_view<char8_t, Traits> text) noexcept {
    return timeline_value_(timeline_address_(text.data()), text.size());
  }
};
template <class Traits, class Allocator>
struct timeline_argument_<std::basic_string<char8_t, Traits, Allocator>>
    : timeline_argument_<std::basic_string_view<char8_t, Traits>> {};
#endif
template <class Traits, class Allocator>
struct timeline_argument_<std::basic_string<char16_t, Traits, Allocator>>
    : timeline_other_text_<char16_t, (sizeof(Traits) > 0)> {};
template <class Traits, class Allocator>
struct timeline_argument_<std::basic_string<char32_t, Traits, Allocator>>
    : timeline_other_text_<char32_t, (sizeof(Traits) > 0)> {};
template <class Traits>
struct timeline_argument_<std::basic_string_view<char16_t, Traits>>
    : timeline_other_text_<char16_t, (sizeof(Traits) > 0)> {};
template <class Traits>
struct timeline_argument_<std::basic_string_view<char32_t, Traits>>
    : timeline_other_text_<char32_t, (sizeof(Traits) > 0)> {};

// A path, such as std::filesystem::path: its native() is a text in bytes.
template <class T>
struct timeline_argument_<T, std::enable_if_t<std::is_same_v<decltype(std::declval<const T&>().native()),
                                                             const typename T::string_type&> &&
                                              std::is_same_v<typename T::value_type, char> &&
                                              !timeline_has_value_<T>::value>> {
  enum : unsigned { type = TIMELINE_SIZED_TEXT_ };
  static timeline_value_t of(const T& path) noexcept {
    return timeline_argument_<typename T::string_type>::of(path.native());
  }
};

// The elements of a container, one behind the other.
template <class T, bool = timeline_elements_<T>::value>
struct timeline_numbers_of_ {
  enum : unsigned { type = TIMELINE_ARRAY_OF | timeline_argument_<T>::type };
  template <class Container>
  static timeline_value_t of(const Container& all) noexcept {
    return timeline_argument_<decltype(timeline_array_(all.data(), all.size()))>::of(
        timeline_array_(all.data(), all.size()));
  }
};
template <>
struct timeline_numbers_of_<std::byte, false> {
  enum : unsigned { type = TIMELINE_ARRAY_OF | TIMELINE_U8 };
  template <class Container>
  static timeline_value_t of(const Container& all) noexcept {
    return timeline_of_(timeline_array_(reinterpret_cast<const unsigned char*>(all.data()), all.size()));
  }
};
template <class T>
struct timeline_numbers_of_<T, false> : timeline_no_argument_ {
  static_assert(timeline_elements_<T>::value,
                "timeline: a container is logged if its elements are numbers of at most 64 bits, or std::byte: log the "
                "elements one by one, or a text as std::string_view");
};
template <class T, class Allocator>
struct timeline_argument_<std::vector<T, Allocator>> : timeline_numbers_of_<T> {};
template <class T, std::size_t N>
struct timeline_argument_<std::array<T, N>> : timeline_numbers_of_<T> {};
#if defined(__cpp_lib_span)
template <class T, std::size_t N>
struct timeline_argument_<std::span<T, N>> : timeline_numbers_of_<std::remove_cv_t<T>> {};
#endif

// A text or an array that there may be. Without one it is logged as a null pointer is.
template <class T, bool = ((timeline_argument_<T>::type >= TIMELINE_STR) && !timeline_has_value_<T>::value)>
struct timeline_optional_ {
  enum : unsigned { type = timeline_argument_<T>::type };
  static timeline_value_t of(const std::optional<T>& value) noexcept {
    return value ? timeline_argument_<T>::of(*value) : timeline_value_(0, 1);
  }
};
template <class T>
struct timeline_optional_<T, false> : timeline_no_argument_ {
  static_assert(sizeof(T) == 0,
                "timeline: an optional is logged if it is of a text or an array, as numbers have no mark for nothing: "
                "log value_or(), and has_value() beside it");
};
template <class T>
struct timeline_argument_<std::optional<T>> : timeline_optional_<T> {};

#endif  // TIMELINE_ARGUMENT_HPP
