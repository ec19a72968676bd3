-- timeline: a flight recorder, driven from LuaJIT.
--
--   local timeline = require "timeline"
--   local tl = assert(timeline.new("/timeline"))          -- [entries], [stringtablesize]
--   local proc = timeline.define(tl, 'example', 'trace', "processed $tcp, $udp, and $other")
--   proc(10, 20, 3)
--   timeline.priority(tl, 'info')                          -- or all, none
--   timeline.save(tl, "snapshot.timeline")
--   timeline.dump("snapshot.timeline", 20)
--
-- Every function that takes a timeline is also its method: timeline.save(tl, f), tl:save(f).
--
-- A failure that can happen to a correct program (no permission, no space, a name in use, a full
-- table) is returned: nil, a message and the kind of failure ("in_use", "no_space"). A failure that
-- only a mistake in the program can cause (a wrong type, a priority that does not exist, a size
-- that is no power of two, five arguments in a message) is raised with error(), at the caller's
-- line.

-- The parts, in timeline/ beside this file, each above those that it needs: what all need; what defines events and logs
-- them; what controls and what reads.
local PARTS = {
   "cdef", "find", "library", "check", "priorities", "object",
   "integer", "convert", "typed", "array", "payload", "define",
   "writer", "control", "value", "event", "attached", "histogram",
   -- Only for who asks for them: they need libraries of their own.
   "worker_cdef", "worker", "analysis_cdef", "analysis",
}

-- They belong together, so those beside this file are taken, also where this one was found under another name, or by no
-- path, or where another copy was loaded before. `require` finds those of a copy that is no file.
local here = debug.getinfo(1, "S").source:match "^@(.*)"
for _, part in ipairs(here and PARTS or {}) do
   local name = "timeline." .. part
   package.loaded[name] = nil
   package.preload[name] = loadfile((here:match "^(.*[/\\])" or "./") .. "timeline/" .. part .. ".lua")
end

local timeline = require("timeline.object").methods
for _, part in ipairs { "writer", "define", "control", "attached", "histogram" } do require("timeline." .. part) end

timeline.version = require("ffi").string(require("timeline.library").timeline_version())

return timeline
