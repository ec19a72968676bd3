-- Objects that hold a handle of C: open or closed, freed by close or when they are collected.

local ffi = require "ffi"
local C = require "timeline.library"
local check = require "timeline.check"
local failed, shown = check.failed, check.shown

-- The functions of the module, which are the methods of a timeline.
local methods = {}

local function described(what)
   return function(object)
      return ("%s %s%s"):format(what, object.path, object.closed and " (closed)" or "")
   end
end

local Timeline = { __index = methods, __tostring = described "timeline" }

local function is_timeline(value) return getmetatable(value) == Timeline end

-- The message of the last new or open that returned nil: that nil is often passed on as a timeline.
local last_failure

local function not_made(how, path, status)
   last_failure = ("timeline.%s(%q) failed: %s"):format(how, path, ffi.string(C.timeline_last_error()))
   return failed(status)
end

local function expect_timeline(value, wanted)
   if is_timeline(value) then return end
   local got = value == nil and last_failure and "nil; " .. last_failure or shown(value)
   error(("timeline: expected %s as first argument, got %s"):format(wanted or "a timeline", got), 3)
end

local function handle_of(pointer, free) return ffi.gc(pointer[0], free) end

local function expect_open(object)
   if not object.closed then return end
   error(("timeline: expected one that is open, got %s; open or attach again"):format(tostring(object)), 3)
end

-- The objects that a timeline or an attached timeline closes with itself. The keys are weak, so an
-- object may be collected before.
local function dependants() return setmetatable({}, { __mode = "k" }) end

local function close_all(objects)
   for object in pairs(objects) do object:close() end
end

-- The pointer to the C handle, NULL once it is closed. The functions that log hold it, and so keep
-- the timeline open.
local function free_writer(writer)
   if writer[0] ~= nil then
      C.timeline_free(writer[0])
      writer[0] = nil
   end
end

local function opened(path, writer)
   return setmetatable({ path = path, writer = ffi.gc(writer, free_writer), samplers = dependants() }, Timeline)
end

return {
   methods = methods, described = described, is_timeline = is_timeline, expect_timeline = expect_timeline,
   expect_open = expect_open, not_made = not_made, handle_of = handle_of, dependants = dependants,
   close_all = close_all, opened = opened, free_writer = free_writer,
}
