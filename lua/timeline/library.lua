-- Loads libtimeline: what a module of these calls C by.

local ffi = require "ffi"

-- A second require (package.loaded cleared, two copies on the path) must not declare twice.
if not pcall(ffi.typeof, "timeline_event_t") then ffi.cdef(require "timeline.cdef") end

return require "timeline.find"("libtimeline", "libtimeline", "TIMELINE_LIBRARY", "timeline_version")
