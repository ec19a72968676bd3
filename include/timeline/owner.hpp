// Owns a handle of a timeline to write to.
#ifndef TIMELINE_OWNER_HPP
#define TIMELINE_OWNER_HPP

#include "../timeline.h"

#include <utility>

namespace timeline {
namespace detail {

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

}  // namespace detail
}  // namespace timeline

#endif  // TIMELINE_OWNER_HPP
