-- The smallest program: define an event, log it, dump it.
local timeline = require "timeline"
local tl = timeline.new("/timeline")                 -- [entries], [stringtablesize]
local proc = timeline.define(tl, 'example', 'trace', "processed $tcp, $udp, and $other")
proc(10, 20, 3)
proc(50, 60, 8)
timeline.priority(tl, 'info')                        -- or all, none
timeline.save(tl, "snapshot.timeline")
timeline.dump("snapshot.timeline", 20)
