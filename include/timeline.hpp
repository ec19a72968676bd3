// timeline.hpp: the C++17 interface of libtimeline, header only, over timeline.h.
//
//   timeline::ring& tl = *new timeline::ring("/timeline");        // for as long as the program runs
//   auto processed = tl.define("example", timeline::trace, "processed $tcp, $udp, and $other");
//   processed(10, 20, 3);
//   TIMELINE_EVENT(tl, timeline::info, "example", "resized $name to $size:bytes", name, buffer.size());
//   TIMELINE_PRINTF(tl, timeline::info, "took %d ms for %s", ms, name.c_str());
//   TIMELINE_SPAN(tl, timeline::info, "example", "breath $packets", packets);   // until the end of the block
//
//   struct sent {
//     static constexpr auto event = timeline::declared("net", timeline::info, "sent $size:bytes to $host");
//     std::uint32_t size;
//     std::string_view host;
//   };
//   tl.log(sent{1500, "eth0"});                     // with C++20: sent{.size = 1500, .host = "eth0"}
//
//   timeline::attached at("/timeline");
//   for (const timeline::event& event : at.events(timeline::newest_first))
//     std::cout << event.core() << ' ' << event.text() << '\n';
//
// Making, defining, saving and reading throw timeline::exception. Logging never throws, except if a
// tracepoint<> is called with a wrong number of arguments (TIMELINE_EVENT, TIMELINE_DEFINE and
// tracepoint<N> check it at compile time), or if a timeline_value of the program throws. timeline.h
// documents every call.
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
#include <limits>
#include <memory>
#include <optional>
#include <ratio>
#include <stdexcept>
#if __cplusplus >= 202002L
#include <span>
#endif
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

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

// With TIMELINE_DISABLED, tracepoints and declared events log nothing. Whether they log is a parameter of
// each function that logs, so that files compiled in either way go into one program.
#ifdef TIMELINE_DISABLED
#define TIMELINE_LOGS_ false
#else
#define TIMELINE_LOGS_ true
#endif

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

// An owner of a handle. Its destructor leaves the pointer as it is: where a program ends, threads may still log by
// what was destroyed already, and then find a timeline that is closed.
class owner {
 public:
  owner() noexcept = default;
  explicit owner(timeline_t* tl) noexcept : tl_(tl) {}
  owner(const owner& other) noexcept : tl_(::timeline_share(other.tl_)) {}
  owner(owner&& other) noexcept : tl_(other.tl_) { other.tl_ = nullptr; }
  owner& operator=(const owner& other) noexcept { return *this = owner(other); }
  owner& operator=(owner&& other) noexcept {
    owner taken(std::move(other));
    std::swap(tl_, taken.tl_);
    return *this;
  }
  ~owner() { ::timeline_free(tl_); }
  timeline_t* get() const noexcept { return tl_; }
  explicit operator bool() const noexcept { return tl_ != nullptr; }

 private:
  timeline_t* tl_ = nullptr;
};

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

// Whether logging such arguments cannot throw: only a timeline_value can, and then nothing is logged.
template <class... Arguments>
inline constexpr bool never_throw = !(timeline_throws_<Arguments>::value || ...);

// Logs an event that is enabled. `marked`: which of its texts are to be interned.
template <class... Arguments>
void log_values(timeline_t* tl, std::uint32_t event, std::uint64_t marked,
                const Arguments&... arguments) noexcept(never_throw<Arguments...>) {
  timeline_log_event_<Arguments...>(tl, event, marked, arguments...);
}

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
  else if constexpr (count == 1) {
    const auto& [m1] = value;
    return function(m1);
  }
  else if constexpr (count == 2) {
    const auto& [m1, m2] = value;
    return function(m1, m2);
  }
  else if constexpr (count == 3) {
    const auto& [m1, m2, m3] = value;
    return function(m1, m2, m3);
  }
  else if constexpr (count == 4) {
    const auto& [m1, m2, m3, m4] = value;
    return function(m1, m2, m3, m4);
  }
  else if constexpr (count == 5) {
    const auto& [m1, m2, m3, m4, m5] = value;
    return function(m1, m2, m3, m4, m5);
  }
  else if constexpr (count == 6) {
    const auto& [m1, m2, m3, m4, m5, m6] = value;
    return function(m1, m2, m3, m4, m5, m6);
  }
  else if constexpr (count == 7) {
    const auto& [m1, m2, m3, m4, m5, m6, m7] = value;
    return function(m1, m2, m3, m4, m5, m6, m7);
  }
  else if constexpr (count == 8) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8);
  }
  else if constexpr (count == 9) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9);
  }
  else if constexpr (count == 10) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10);
  }
  else if constexpr (count == 11) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11);
  }
  else if constexpr (count == 12) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12);
  }
  else if constexpr (count == 13) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13);
  }
  else if constexpr (count == 14) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14);
  }
  else if constexpr (count == 15) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15);
  }
  else if constexpr (count == 16) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16);
  }
  else if constexpr (count == 17) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17);
  }
  else if constexpr (count == 18) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18);
  }
  else if constexpr (count == 19) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19);
  }
  else if constexpr (count == 20) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20);
  }
  else if constexpr (count == 21) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21);
  }
  else if constexpr (count == 22) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22);
  }
  else if constexpr (count == 23) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23);
  }
  else if constexpr (count == 24) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24);
  }
  else if constexpr (count == 25) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25);
  }
  else if constexpr (count == 26) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26);
  }
  else if constexpr (count == 27) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27);
  }
  else if constexpr (count == 28) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28);
  }
  else if constexpr (count == 29) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29);
  }
  else if constexpr (count == 30) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30);
  }
  else if constexpr (count == 31) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31);
  }
  else if constexpr (count == 32) {
    const auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32] = value;
    return function(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32);
  }
}

}  // namespace detail

// The declaration of an event whose arguments are the members of a struct: see declared.
struct declaration {
  const char* category;
  ::timeline::priority priority;
  const char* message;
  ::timeline::attributes with;
  const char* file;
  std::uint32_t line;
};

// Declares an event in a struct: its members are the arguments of the message, in their order.
//
//   struct sent {
//     static constexpr auto event = timeline::declared("net", timeline::info, "sent $size:bytes to $host");
//     std::uint32_t size;
//     std::string_view host;
//   };
//
// The struct is an aggregate of up to 32 members, without base classes and arrays of C. They are what
// TIMELINE_EVENT takes. The compiler compares their number and types with the message. ring::log logs
// a value.
constexpr declaration declared(const char* category, ::timeline::priority priority, const char* message,
                               ::timeline::attributes with = {}, const char* file = __builtin_FILE(),
                               unsigned line = __builtin_LINE()) noexcept {
  return {category, priority, message, with, file, line};
}

namespace detail {

template <class Event>
struct message_of {
  static constexpr const char* text() noexcept { return Event::event.message; }
};

// Where a declared event remembers its definitions.
template <class Event>
inline timeline_site_t site_of = {Event::event.category,
                                  Event::event.message,
                                  Event::event.file,
                                  Event::event.line,
                                  TIMELINE_SITE_EVENT | (Event::event.with.important ? TIMELINE_SITE_IMPORTANT : 0),
                                  Event::event.with.channels,
                                  0,
                                  nullptr,
                                  nullptr};

// What with_members calls to know whether logging them cannot throw.
struct never_throw_members {
  template <class... Members>
  constexpr std::bool_constant<never_throw<Members...>> operator()(const Members&...) const noexcept {
    return {};
  }
};
template <class Event>
constexpr bool never_throws() noexcept {
  using found = decltype(with_members<count_arguments(Event::event.message)>(std::declval<const Event&>(),
                                                                             never_throw_members()));
  // void where with_members has refused the struct.
  if constexpr (std::is_void_v<found>)
    return true;
  else
    return found::value;
}

template <bool Logs, class Event>
void log_declared(timeline_t* tl, const Event& value) noexcept(never_throws<Event>()) {
  static_assert(std::is_aggregate_v<Event>, "timeline: a declared event is a plain struct, without constructors");
  with_members<count_arguments(Event::event.message)>(value, [tl](const auto&... members) {
    check_message<message_of<Event>, std::decay_t<decltype(members)>...>();
    if constexpr (Logs) {
      typedef timeline_types_<std::decay_t<decltype(members)>...> types;
      timeline_site_t* const site = &site_of<Event>;
      const std::int32_t level = static_cast<std::int32_t>(Event::event.priority);
      const std::uint32_t event = timeline_event_at_(tl, site, level, types::all);
      if (tl != nullptr && timeline_is_on_(tl, event))
        log_values<std::decay_t<decltype(members)>...>(tl, event, timeline_marked_(site), members...);
    }
  });
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

// A span that has begun: its destruction logs the end, with the arguments of the begin or those of set().
// It logs nothing if the begin was disabled, if it is default-constructed, or moved from. It must not
// outlive the ring, or what it was made by. Where spans are those of a thread, it ends in its thread.
class [[nodiscard]] span {
 public:
  span() noexcept = default;
  span(span&& other) noexcept : span(other) { other.tl_ = nullptr; }
  span& operator=(span&& other) noexcept {
    if (this != &other) {
      end();
      *this = static_cast<const span&>(other);
      other.tl_ = nullptr;
    }
    return *this;
  }
  ~span() { end(); }

  // Gives the end other arguments than the begin had.
  template <class... Arguments>
  void set(Arguments... arguments) noexcept {
    static_assert(sizeof...(Arguments) <= detail::max_arguments, "timeline: a span has at most four arguments");
    arguments_ = {detail::argument(arguments)...};
  }

  // Ends it now.
  void end() noexcept {
    if (tl_) (::timeline_log)(tl_, event_, arguments_[0], arguments_[1], arguments_[2], arguments_[3]);
    tl_ = nullptr;
  }

 private:
  template <int Count>
  friend class span_events;
  span(const span&) noexcept = default;
  span& operator=(const span&) noexcept = default;

  const timeline_t* tl_ = nullptr;
  std::uint32_t event_ = 0;
  std::array<std::int64_t, detail::max_arguments> arguments_{};
};

// The two events of a defined span. Call it with the arguments of the begin to log that; the result
// logs the end when it is destroyed: `auto running = breath(10);`. For a span that ends elsewhere, call
// begin and end by themselves.
template <int Count = any>
class span_events {
 public:
  span_events() noexcept = default;

  template <bool Logs = TIMELINE_LOGS_, class... Arguments>
  span operator()(Arguments... arguments) const noexcept(Count != any) {
    span begun;
    const bool is_logged = Logs && begin.enabled();
    begin.template operator()<Logs>(arguments...);
    if (is_logged) {
      begun.tl_ = begin.tl_.get();
      begun.event_ = end.id();
      begun.set(arguments...);
    }
    return begun;
  }

  tracepoint<Count> begin;
  tracepoint<Count> end;

 private:
  friend class ring;
  span_events(const tracepoint<Count>& first, const tracepoint<Count>& last) noexcept : begin(first), end(last) {}
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

class catalogue;

// A timeline to write to. Any thread may use it at any time, but only one may move it. A moved-from ring logs
// nothing, and throws from functions that need a timeline.
//
// The destructor closes the timeline. Threads that log to it meanwhile, or later by tracepoints, by the handle, or by a
// ring with static storage as the program ends, find it closed: their events are dropped and counted, and other calls
// throw. A ring that is never destroyed loses nothing when the program ends.
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
    const std::uint32_t count = counted<Count>(message);
    std::uint32_t event = 0;
    detail::check(::timeline_define_with(tl_.get(), category.c(), static_cast<std::int32_t>(priority), message.c(),
                                         &with, &event));
    return tracepoint<Count>(tl_, event, count);
  }

  // Defines an event with the types of its arguments, such as define<std::uint32_t, std::string_view>. An
  // argument without a type in the message gets that of the call; throws if one does not fit.
  template <class First, class... More>
  typed_tracepoint<First, More...> define(detail::text category, ::timeline::priority priority, detail::text message,
                                          const attributes& with = {}) const {
    typedef timeline_types_<First, More...> types;
    std::uint32_t event = 0;
    std::uint64_t marked = 0;
    detail::check(::timeline_define_typed(tl_.get(), category.c(), static_cast<std::int32_t>(priority), message.c(),
                                          types::all, &with, &event, &marked));
    return typed_tracepoint<First, More...>(tl_, event, marked);
  }

  // Defines a span: "breath $packets" defines the events "begin breath $packets" and "end breath $packets",
  // which readers pair (timeline_define_span). Its arguments are whole numbers, at most four. For others,
  // TIMELINE_SPAN.
  span_events<> define_span(detail::text category, ::timeline::priority priority, detail::text message,
                            const attributes& with = {}) const {
    return define_span<any>(category, priority, message, with);
  }

  // Defines a span whose calls the compiler checks; throws unless the message has Count arguments.
  template <int Count>
  span_events<Count> define_span(detail::text category, ::timeline::priority priority, detail::text message,
                                 const attributes& with = {}) const {
    return define_span_by<Count>(::timeline_define_span, category, priority, message, with);
  }

  // Defines a span that may end in another thread or process: its first argument is the key by which readers
  // pair its events (timeline_define_async_span).
  span_events<> define_async_span(detail::text category, ::timeline::priority priority, detail::text message,
                                  const attributes& with = {}) const {
    return define_async_span<any>(category, priority, message, with);
  }

  template <int Count>
  span_events<Count> define_async_span(detail::text category, ::timeline::priority priority, detail::text message,
                                       const attributes& with = {}) const {
    return define_span_by<Count>(::timeline_define_async_span, category, priority, message, with);
  }

  // Logs a declared event: see declared. Defines it when it is first logged. An event that cannot be defined is
  // never logged. Throws nothing but what a timeline_value throws.
  template <class Event, bool Logs = TIMELINE_LOGS_>
  auto log(const Event& value) const noexcept(detail::never_throws<Event>())
      -> std::void_t<decltype(Event::event.message)> {
    detail::log_declared<Logs>(tl_.get(), value);
  }

  // Defines all events of a catalogue, a text file: load("engine.events").at("engine.start").
  catalogue load(detail::text file) const;

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
  explicit operator bool() const noexcept { return tl_.get() != nullptr; }

 private:
  friend class catalogue;
  struct empty {};
  explicit ring(empty) noexcept {}

  // How many arguments a message for tracepoint<Count> has. Throws if they are not whole numbers, or too many, or
  // not Count.
  template <int Count>
  static std::uint32_t counted(detail::text message) {
    static_assert(Count >= any && Count <= static_cast<int>(detail::max_arguments),
                  "timeline: a message has at most four $arguments");
    std::uint32_t count = 0;
    timeline_field_t fields[TIMELINE_MAX_FIELDS];
    detail::check(::timeline_fields(message.c(), fields, &count));
    for (std::uint32_t i = 0; i < count; ++i)
      if (fields[i].type == TIMELINE_F32 || fields[i].type == TIMELINE_F64 || fields[i].type >= TIMELINE_STR) {
        const std::string name(fields[i].name, fields[i].name_length);
        const std::string what = "this tracepoint takes whole numbers, but $" + name + " is not one: name the " +
                                 "types, as in define<double>, or log it by TIMELINE_EVENT";
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
    return count;
  }

  template <int Count>
  span_events<Count> define_span_by(decltype(::timeline_define_span)* by, detail::text category,
                                    ::timeline::priority priority, detail::text message,
                                    const attributes& with) const {
    const std::uint32_t count = counted<Count>(message);
    timeline_span_events_t events;
    detail::check(by(tl_.get(), category.c(), static_cast<std::int32_t>(priority), message.c(), &with, &events));
    return span_events<Count>(tracepoint<Count>(tl_, events.begin, count), tracepoint<Count>(tl_, events.end, count));
  }

  void own(timeline_t* tl) noexcept { tl_ = detail::owner(tl); }

  // Shared with the tracepoints, so that none can outlive its timeline.
  detail::owner tl_;
};

// The events of a catalogue, by their names. Keeps its timeline open.
class catalogue {
 public:
  // The event of this name, whose arguments are whole numbers. Throws if there is none, or if its message names
  // other types.
  tracepoint<> at(detail::text name) const {
    const definition& found = find(name);
    return where().define(found.category, found.priority, found.message, found.with());
  }

  // The event of this name, for arguments of these types: at<double, std::string_view>("net.used"). Throws if there is
  // none, or if they do not fit its message.
  template <class First, class... More>
  typed_tracepoint<First, More...> at(detail::text name) const {
    const definition& found = find(name);
    return where().template define<First, More...>(found.category, found.priority, found.message, found.with());
  }

  std::size_t size() const noexcept { return events_.size(); }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& event : events_) names.push_back(event.first);
    return names;
  }

 private:
  friend class ring;
  struct definition {
    std::string category;
    ::timeline::priority priority;
    std::string message, channels;
    bool important;
    attributes with() const { return attributes{channels.c_str(), important}; }
  };

  const definition& find(detail::text name) const {
    const auto found = events_.find(name.c());
    if (found == events_.end()) {
      const std::string what = std::string("the catalogue has no event \"") + name.c() + "\": names() has them all";
      detail::raise(TIMELINE_E_NOT_FOUND, what.c_str());
    }
    return found->second;
  }

  ring where() const {
    ring same{ring::empty{}};
    same.tl_ = tl_;
    return same;
  }

  detail::owner tl_;
  std::map<std::string, definition> events_;
};

inline catalogue ring::load(detail::text file) const {
  timeline_catalogue_t* made = nullptr;
  detail::check(::timeline_define_file(tl_.get(), file.c(), &made));
  const std::unique_ptr<timeline_catalogue_t, void (*)(timeline_catalogue_t*)> owner(made, ::timeline_catalogue_free);
  catalogue loaded;
  loaded.tl_ = tl_;
  timeline_defined_t one;
  for (std::uint32_t i = 0; ::timeline_defined(made, i, &one) == TIMELINE_OK; ++i)
    loaded.events_[one.name] = {one.category, static_cast<::timeline::priority>(one.priority), one.message, one.channels,
                                one.important};
  return loaded;
}

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
                  "timeline: a value is read as a number, a std::string_view, a std::string or a std::vector of numbers");
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

// An event from a cursor. Copies are cheap, but the views of category(), message(), file() and channels() are
// only valid until both the attached timeline and the cursor are gone.
class event {
 public:
  using time_point = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

  event() noexcept : c_() { c_.category = c_.message = c_.file = c_.channels = ""; }
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
  // The values: those of the message's arguments, or of a format of printf.
  std::vector<value> values() const {
    std::uint32_t count = 0;
    detail::check(::timeline_values(&c_, nullptr, 0, &count));
    std::vector<timeline_event_value_t> read(count);
    detail::check(::timeline_values(&c_, read.data(), count, &count));
    std::vector<value> found;
    found.reserve(count);
    for (const timeline_event_value_t& one : read) found.push_back(value(one));
    return found;
  }
  std::string_view category() const noexcept { return c_.category; }
  std::string_view message() const noexcept { return c_.message; }
  std::string_view thread() const noexcept { return c_.thread; }
  std::string_view group() const noexcept { return c_.group; }
  std::string_view process() const noexcept { return c_.process; }
  // The channels of its definition: "itv|bbc".
  std::string_view channels() const noexcept { return c_.channels; }
  // The source file and line of a statement or a declared event; "" and 0 for other events.
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
    kept_->words.resize((c_.payload_size + sizeof(std::int64_t) - 1) / sizeof(std::int64_t));
    if (c_.payload_size > 0) std::memcpy(kept_->words.data(), c_.payload, c_.payload_size);
    c_.backtrace = kept_->backtrace.data();
    if (c_.payload_size > 0) c_.payload = reinterpret_cast<const std::uint8_t*>(kept_->words.data());
  }

  struct kept {
    std::vector<std::uint64_t> backtrace;
    std::vector<std::int64_t> words;
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
template <class Message, class... Arguments>
constexpr void check_arguments(timeline_types_<Arguments...>*) noexcept {
  check_message<Message, Arguments...>();
}

template <int Count>
tracepoint<Count> define(const ring& tl, text category, ::timeline::priority priority, text message) {
  return tl.template define<Count>(category, priority, message);
}

}  // namespace detail
}  // namespace timeline

// From here on, TIMELINE_PRINTF, TIMELINE_BACKTRACE and TIMELINE_SPAN of timeline.h also take a ring and a
// timeline::priority, and TIMELINE_SPAN what TIMELINE_EVENT takes.
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
// timeline::priority, and the compiler compares number and types of the arguments with the message. It takes
// enumerators, texts (std::string, std::string_view, those of wchar_t and char8_t, paths, arrays of characters),
// std::vector, std::array, std::span and arrays of C of numbers, std::chrono::duration (beyond 292 years it is shown as
// these), time points of system_clock, and std::optional of a text or an array. For a type of your own, define a function
//
//   auto timeline_value(const mine& value);
//
// beside it, which returns one of these, or another type with such a function. What it returns by value is
// kept until the event is logged; what a view or a pointer refers to must outlive the call. If it throws, the
// exception leaves the statement, and nothing is logged. A conversion of a type to a number must not throw: it
// may be called where the program would end. An event that cannot be defined is never logged, and throws nothing.
#undef TIMELINE_CHECK_
#define TIMELINE_CHECK_(...)                                                                     \
  struct timeline_message_ {                                                                     \
    static constexpr const char* text() noexcept { return TIMELINE_FIRST_(__VA_ARGS__, 0); }     \
  };                                                                                             \
  ::timeline::detail::check_arguments<timeline_message_>(false ? timeline_types_of_(__VA_ARGS__) \
                                                               : nullptr)

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
struct timeline_argument_<std::basic_string<char16_t, Traits, Allocator>> : timeline_other_text_<char16_t, (sizeof(Traits) > 0)> {};
template <class Traits, class Allocator>
struct timeline_argument_<std::basic_string<char32_t, Traits, Allocator>> : timeline_other_text_<char32_t, (sizeof(Traits) > 0)> {};
template <class Traits>
struct timeline_argument_<std::basic_string_view<char16_t, Traits>> : timeline_other_text_<char16_t, (sizeof(Traits) > 0)> {};
template <class Traits>
struct timeline_argument_<std::basic_string_view<char32_t, Traits>> : timeline_other_text_<char32_t, (sizeof(Traits) > 0)> {};

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

#endif  // C++17
#endif  // TIMELINE_HPP
