// Compares a message with its arguments while a program is compiled.
#ifndef TIMELINE_MESSAGE_HPP
#define TIMELINE_MESSAGE_HPP

#include "../timeline.h"

#include <cstddef>
#include <string_view>

namespace timeline {
namespace detail {

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

constexpr bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// A type that the message names, but that there is not.
inline constexpr unsigned unknown_type = ~0u;

// The number of a type by its name: TIMELINE_I64 and so on.
constexpr unsigned type_named(std::string_view name) noexcept {
  struct named {
    std::string_view name;
    unsigned type;
  };
  constexpr named types[] = {
      {"i8", TIMELINE_I8},     {"i16", TIMELINE_I16},   {"i32", TIMELINE_I32},   {"i64", TIMELINE_I64},
      {"u8", TIMELINE_U8},     {"u16", TIMELINE_U16},   {"u32", TIMELINE_U32},   {"u64", TIMELINE_U64},
      {"f32", TIMELINE_F32},   {"f64", TIMELINE_F64},   {"bool", TIMELINE_BOOL}, {"char", TIMELINE_CHAR},
      {"hex", TIMELINE_HEX},   {"ptr", TIMELINE_PTR},   {"ns", TIMELINE_NS},     {"time", TIMELINE_TIME},
      {"bytes", TIMELINE_BYTES}, {"str", TIMELINE_STR}, {"wstr", TIMELINE_WSTR}, {"istr", TIMELINE_ISTR},
  };
  for (const named& type : types)
    if (type.name == name) return type.type;
  return unknown_type;
}

// The type that a message names at `text`, behind `$name:`.
constexpr unsigned type_at(const char* text) noexcept {
  std::size_t length = 0;
  while (is_name(text[length]) && text[length] != '_') ++length;
  const std::string_view name(text, length);
  if (text[length] == '(' && name == "enum") return TIMELINE_ENUM;
  if (text[length] == '(' && name == "flags") return TIMELINE_FLAGS;
  const unsigned type = type_named(name);
  if (text[length] != '[' || text[length + 1] != ']') return type;
  return type <= TIMELINE_F64 ? TIMELINE_ARRAY_OF | type : unknown_type;
}

// The type that a message names for the argument at `index`; 0 if it names none.
constexpr unsigned type_of_argument(const char* message, std::size_t index) noexcept {
  for (; *message != '\0' && *message != '\n' && *message != '\r'; ++message) {
    if (*message != '$' || !is_name(message[1]) || index-- > 0) continue;
    while (is_name(message[1])) ++message;
    return message[1] == ':' && is_letter(message[2]) ? type_at(message + 2) : 0;
  }
  return 0;
}

constexpr bool is_whole_number(unsigned type) noexcept {
  return type < TIMELINE_STR && type != TIMELINE_F32 && type != TIMELINE_F64 && type != TIMELINE_PTR;
}

// Whether an argument of a type may stand where the message names another.
constexpr bool fits(unsigned expected, unsigned given) noexcept {
  if (given == TIMELINE_LONG_DOUBLE_) return false;
  if (given == TIMELINE_SIZED_TEXT_) given = TIMELINE_STR;
  if (given == TIMELINE_SIZED_WIDE_) given = TIMELINE_WSTR;
  if (given == TIMELINE_MAYBE_TEXT_ || given == TIMELINE_MAYBE_WIDE_) given = TIMELINE_PTR;
  if (expected == 0) return true;
  if (expected == TIMELINE_HEX && given == TIMELINE_PTR) return true;
  if (expected == TIMELINE_STR || expected == TIMELINE_ISTR) return given == TIMELINE_STR || given == TIMELINE_WSTR;
  return is_whole_number(expected) ? is_whole_number(given) : expected == given;
}

constexpr bool has_known_types(const char* message) noexcept {
  for (int i = 0; i < count_arguments(message); ++i)
    if (type_of_argument(message, static_cast<std::size_t>(i)) == unknown_type) return false;
  return true;
}

// Whether arguments of these types may be logged with a message.
template <class... Arguments>
constexpr bool all_fit(const char* message) noexcept {
  const unsigned given[] = {0u, timeline_argument_<Arguments>::type...};
  for (std::size_t i = 0; i < sizeof...(Arguments); ++i)
    if (!fits(type_of_argument(message, i), given[i + 1])) return false;
  return true;
}

// Message::text() is a message, which these arguments are for.
template <class Message, class... Arguments>
constexpr void check_message() noexcept {
  constexpr int count = count_arguments(Message::text());
  static_assert(count <= TIMELINE_MAX_FIELDS, "timeline: an event has at most 64 arguments");
  static_assert(sizeof...(Arguments) == count,
                "timeline: the call has another number of arguments than the message has $arguments");
  static_assert(has_known_types(Message::text()),
                "timeline: the message names a type that there is not: docs/format.md lists the types");
  if constexpr (sizeof...(Arguments) == count)
    static_assert(all_fit<Arguments...>(Message::text()),
                  "timeline: an argument has another type than the message gives it: let both agree, or convert it");
}

}  // namespace detail
}  // namespace timeline

#endif  // TIMELINE_MESSAGE_HPP
