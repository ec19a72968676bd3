// Reads timelines: attaches to them, walks over their events and follows them.
#ifndef TIMELINE_ATTACHED_HPP
#define TIMELINE_ATTACHED_HPP

#include "../timeline.h"
#include "error.hpp"
#include "event.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>

namespace timeline {

// Where a walk over events begins, and where a follower begins.
enum class order : std::int32_t { oldest_first = TIMELINE_OLDEST_FIRST, newest_first = TIMELINE_NEWEST_FIRST };
inline constexpr order oldest_first = order::oldest_first;
inline constexpr order newest_first = order::newest_first;
enum class from : std::int32_t { oldest = TIMELINE_FROM_OLDEST, now = TIMELINE_FROM_NOW };

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

}  // namespace timeline

#endif  // TIMELINE_ATTACHED_HPP
