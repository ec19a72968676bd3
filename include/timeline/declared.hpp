// Events that a struct declares, whose members are the arguments.
#ifndef TIMELINE_DECLARED_HPP
#define TIMELINE_DECLARED_HPP

#include "../timeline.h"
#include "level.hpp"
#include "members.hpp"
#include "message.hpp"
#include "own.hpp"
#include "tracepoint.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace timeline {

// What a definition says besides category, priority and message: attributes{"itv|bbc", false}.
using attributes = timeline_attributes_t;

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

}  // namespace timeline

#endif  // TIMELINE_DECLARED_HPP
