-- Priorities and levels: their names by number, and their numbers by name.

local ffi = require "ffi"
local C = require "timeline.library"

local PRIORITIES = {}
for _, name in ipairs { "error", "warning", "info", "trace", "app", "packet", "library" } do
   local number = ffi.new("int32_t[1]")
   assert(C.timeline_priority_parse(name, number) == C.TIMELINE_OK)
   PRIORITIES[number[0]], PRIORITIES[name] = name, number[0]
end

local LEVELS = { all = C.TIMELINE_ALL, none = C.TIMELINE_NONE }
for name, number in pairs(PRIORITIES) do
   if type(name) == "string" then LEVELS[name] = number end
end
for name, number in pairs { all = LEVELS.all, none = LEVELS.none } do LEVELS[number] = name end
for name, number in pairs(PRIORITIES) do
   if type(name) == "number" then LEVELS[name] = number end
end

local A_PRIORITY = "error, warning, info, trace, app, packet or library"
local A_LEVEL = "all, none, " .. A_PRIORITY

-- What may have been meant by a word that is no priority: the end of an error's text, which may be empty.
local function meant(word)
   local number = ffi.new("int32_t[1]")
   if type(word) ~= "string" or C.timeline_priority_parse(word, number) == C.TIMELINE_OK then return "" end
   return ffi.string(C.timeline_last_error()):match("; did you mean .*$") or ""
end

return {
   PRIORITIES = PRIORITIES, LEVELS = LEVELS, A_PRIORITY = A_PRIORITY, A_LEVEL = A_LEVEL, meant = meant,
}
