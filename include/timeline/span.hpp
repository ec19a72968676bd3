// Spans: events that begin and end something.
#ifndef TIMELINE_SPAN_HPP
#define TIMELINE_SPAN_HPP

#include "tracepoint.hpp"

#include <array>
#include <cstdint>

namespace timeline {

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

}  // namespace timeline

#endif  // TIMELINE_SPAN_HPP
