-- Checks what a program gives, and says what failed: at its line, or as nil, a message and a kind.

local ffi = require "ffi"
local C = require "timeline.library"

local OK, ARGUMENT = C.TIMELINE_OK, C.TIMELINE_E_ARGUMENT

local KINDS = {}
for _, kind in ipairs { "io", "not_found", "in_use", "no_space", "not_a_timeline", "version", "corrupt",
   "argument", "full", "busy", "not_trusted", "bug" } do
   KINDS[C["TIMELINE_E_" .. kind:upper()]] = kind
end

-- Always called as `return failed(status)`: the tail call takes its caller off the stack, so
-- that level 2 is the line of the program that called this module. `said` is the message, if another library failed.
local function failed(status, said)
   local message = ffi.string(said or C.timeline_last_error())
   if status == ARGUMENT then error(message, 2) end
   return nil, message, KINDS[status]
end

local function done(status)
   if status ~= OK then return failed(status) end
   return true
end

local function shown(value) return type(value) == "string" and ("%q"):format(value) or tostring(value) end

local function expect(condition, what, wanted, got)
   if condition then return end
   error(("timeline: expected %s as %s, got %s"):format(wanted, what, shown(got)), 3)
end

-- C would cut a string short at a NUL, so such a string is refused here.
local function is_text(value)
   return type(value) == "string" and not value:find("\0", 1, true)
end

local function is_size(value)
   return type(value) == "number" and value >= 1 and value < 2 ^ 53 and value % 1 == 0
end

local function is_duration(value)
   return type(value) == "number" and value >= 1e-9 and value < 1e9
end

local function nanoseconds(seconds) return math.floor(seconds * 1e9 + 0.5) end

return {
   failed = failed, done = done, shown = shown, expect = expect, is_text = is_text, is_size = is_size,
   is_duration = is_duration, nanoseconds = nanoseconds,
}
