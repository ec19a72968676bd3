// timeline.hpp: the C++17 interface of libtimeline, header only, over timeline.h.
//
//   timeline::ring& tl = *new timeline::ring("/timeline");        // for as long as the program runs
//   auto processed = tl.define("example", timeline::trace, "processed $tcp, $udp, and $other");
//   processed(10, 20, 3);
//   TIMELINE_EVENT(tl, timeline::info, "example", "resized $name to $size:bytes", name, buffer.size());
//   TIMELINE_PRINTF(tl, timeline::info, "took %d ms for %s", ms, name.c_str());
//   TIMELINE_SPAN(tl, timeline::info, "example", "breath $packets", packets);   // until the end of the block
//
//   struct sent {
//     static constexpr auto event = timeline::declared("net", timeline::info, "sent $size:bytes to $host");
//     std::uint32_t size;
//     std::string_view host;
//   };
//   tl.log(sent{1500, "eth0"});                     // with C++20: sent{.size = 1500, .host = "eth0"}
//
//   timeline::attached at("/timeline");
//   for (const timeline::event& event : at.events(timeline::newest_first))
//     std::cout << event.core() << ' ' << event.text() << '\n';
//
// Making, defining, saving and reading throw timeline::exception. Logging never throws, except if a
// tracepoint<> is called with a wrong number of arguments (TIMELINE_EVENT, TIMELINE_DEFINE and
// tracepoint<N> check it at compile time), or if a timeline_value of the program throws. timeline.h
// documents every call.
#ifndef TIMELINE_HPP
#define TIMELINE_HPP

#if __cplusplus < 201703L
#error "timeline.hpp needs C++17 or a later standard: compile with -std=c++17"
#else

#include "timeline.h"

// The parts, each of which includes those that it needs: what logs, what reads, and what the statements take.
#include "timeline/error.hpp"
#include "timeline/level.hpp"
#include "timeline/owner.hpp"
#include "timeline/message.hpp"
#include "timeline/own.hpp"
#include "timeline/members.hpp"
#include "timeline/tracepoint.hpp"
#include "timeline/declared.hpp"
#include "timeline/span.hpp"
#include "timeline/ring.hpp"
#include "timeline/catalogue.hpp"
#include "timeline/value.hpp"
#include "timeline/event.hpp"
#include "timeline/attached.hpp"
#include "timeline/statement.hpp"
#include "timeline/argument.hpp"
#include "timeline/time.hpp"

#endif  // C++17
#endif  // TIMELINE_HPP
