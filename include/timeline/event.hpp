// An event that was read.
#ifndef TIMELINE_EVENT_HPP
#define TIMELINE_EVENT_HPP

#include "../timeline.h"
#include "error.hpp"
#include "level.hpp"
#include "value.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace timeline {

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

}  // namespace timeline

#endif  // TIMELINE_EVENT_HPP
