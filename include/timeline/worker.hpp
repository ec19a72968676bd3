// Records a timeline inside its own program: link with -ltimeline-worker, beside -ltimeline.
#ifndef TIMELINE_WORKER_HPP
#define TIMELINE_WORKER_HPP

#include "../timeline-worker.h"
#include "error.hpp"
#include "ring.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace timeline {

// Options of a worker; value-initialised, they are the defaults: the environment is asked where to record to.
using worker_options = ::timeline_worker_options_t;

// What was recorded.
using worker_totals = ::timeline_worker_totals_t;

namespace detail {

inline void check_worker(timeline_status_t status) {
  if (status != TIMELINE_OK) raise(status, timeline_worker_last_error());
}

inline std::uint64_t nanoseconds(std::chrono::nanoseconds time) {
  return time.count() < 0 ? 0 : static_cast<std::uint64_t>(time.count());
}

}  // namespace detail

// Follows an argument of the command line, if it is -tracefile=PATH or -tracehost=HOST[:PORT]; returns whether it is.
// The options lead into the argument.
inline bool worker_option(worker_options& how, const char* argument) {
  const timeline_status_t status = ::timeline_worker_option(&how, argument);
  if (status != TIMELINE_END) detail::check_worker(status);
  return status == TIMELINE_OK;
}

// A recording, until destroyed or stopped. The ring may be destroyed before. One that nobody asked for, one that was
// stopped and one that was moved from do nothing.
class worker {
 public:
  worker() noexcept = default;

  // Starts to record (timeline_worker_start).
  explicit worker(const ring& tl, const worker_options& how = {}) {
    timeline_worker_t* running = nullptr;
    const timeline_status_t status = ::timeline_worker_start(tl.c(), &how, &running);
    if (status != TIMELINE_END) detail::check_worker(status);
    running_.reset(running);
  }

  // Whether there is a recording.
  explicit operator bool() const noexcept { return running_ != nullptr; }

  // Records for this time, without a thread (timeline_worker_update).
  void update(std::chrono::nanoseconds most) {
    detail::check_worker(::timeline_worker_update(running_.get(), detail::nanoseconds(most)));
  }

  // Writes what was logged so far (timeline_worker_flush). Returns whether that was done within this time.
  bool flush(std::chrono::nanoseconds most) {
    const timeline_status_t status = ::timeline_worker_flush(running_.get(), detail::nanoseconds(most));
    if (status != TIMELINE_E_BUSY) detail::check_worker(status);
    return status == TIMELINE_OK;
  }

  // What was recorded so far.
  worker_totals totals() const {
    worker_totals found{};
    detail::check_worker(::timeline_worker_totals(running_.get(), &found));
    return found;
  }

  // What is in the way at present, in a sentence; empty if nothing is.
  std::string trouble() const {
    char text[1024];
    const timeline_status_t status = ::timeline_worker_trouble(running_.get(), text, sizeof text);
    if (status != TIMELINE_END) detail::check_worker(status);
    return text;
  }

  // Records what was logged so far, and ends. Returns what was recorded in all.
  worker_totals stop() {
    worker_totals found{};
    detail::check_worker(::timeline_worker_stop(running_.release(), &found));
    return found;
  }

 private:
  struct stopper {
    void operator()(timeline_worker_t* running) const noexcept { ::timeline_worker_stop(running, nullptr); }
  };
  std::unique_ptr<timeline_worker_t, stopper> running_;
};

}  // namespace timeline

#endif  // TIMELINE_WORKER_HPP
