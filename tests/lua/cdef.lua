-- Prints what LuaJIT makes of the declarations, for comparison with what C makes of the header.
local ffi = require "ffi"
ffi.cdef(dofile(arg[1]))
for type, members in pairs {
   timeline_event_t = { "ticks", "unix_nanos", "event", "tid", "pid", "priority", "argument_count", "core", "node",
      "args", "category", "message", "thread", "group", "process", "syntax", "line", "file", "payload", "backtrace",
      "payload_size", "backtrace_count", "missed", "important" },
   timeline_event_value_t = { "kind", "type", "integer", "natural", "number", "extended", "data", "count",
      "element_size", "cut" },
   timeline_t = { "enabled", "events", "serial", "payload" },
   timeline_span_events_t = { "begin", "end" },
} do
   print(type, ffi.sizeof(type))
   for _, member in ipairs(members) do print(type .. "." .. member, ffi.offsetof(type, member)) end
end
for _, name in ipairs { "TIMELINE_OK", "TIMELINE_END", "TIMELINE_E_ARGUMENT", "TIMELINE_ALL", "TIMELINE_NONE",
   "TIMELINE_LIBRARY", "TIMELINE_NEWEST_FIRST", "TIMELINE_FROM_NOW", "TIMELINE_IS_ARRAY" } do
   print(name, ffi.C[name])
end
