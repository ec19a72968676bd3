// The statements of timeline.h, with what C++ has for timelines, priorities and types.
#ifndef TIMELINE_STATEMENT_HPP
#define TIMELINE_STATEMENT_HPP

#include "../timeline.h"
#include "message.hpp"
#include "ring.hpp"

#include <cstdint>

namespace timeline {
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
// these), time points of system_clock, and std::optional of a text or an array. For a type of your own, define a
// function
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

#endif  // TIMELINE_STATEMENT_HPP
