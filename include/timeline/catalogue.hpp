// The events of a catalogue, a text file, by their names.
#ifndef TIMELINE_CATALOGUE_HPP
#define TIMELINE_CATALOGUE_HPP

#include "ring.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace timeline {

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
    loaded.events_[one.name] = {one.category, static_cast<::timeline::priority>(one.priority), one.message,
                                one.channels, one.important};
  return loaded;
}

}  // namespace timeline

#endif  // TIMELINE_CATALOGUE_HPP
