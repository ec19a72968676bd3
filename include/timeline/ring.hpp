// A timeline to write to.
#ifndef TIMELINE_RING_HPP
#define TIMELINE_RING_HPP

#include "../timeline.h"
#include "declared.hpp"
#include "error.hpp"
#include "level.hpp"
#include "owner.hpp"
#include "span.hpp"
#include "tracepoint.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace timeline {

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

}  // namespace timeline

#endif  // TIMELINE_RING_HPP
