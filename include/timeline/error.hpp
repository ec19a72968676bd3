// What a failed call throws, and the texts that C is given.
#ifndef TIMELINE_ERROR_HPP
#define TIMELINE_ERROR_HPP

#include "../timeline.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

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

}  // namespace detail
}  // namespace timeline

#endif  // TIMELINE_ERROR_HPP
