-- An event that was read: its fields, its texts, and its message with its arguments.

local ffi = require "ffi"
local C = require "timeline.library"
local value = require "timeline.value"
local PRIORITIES = require("timeline.priorities").PRIORITIES
local expect_open = require("timeline.object").expect_open
local OK = C.TIMELINE_OK

-- The fields of an event, each computed when it is first read.
local fields = {
   event = function(raw) return raw.event end,
   core = function(raw) return raw.core end,
   node = function(raw) return raw.node end,
   tid = function(raw) return raw.tid end,
   pid = function(raw) return raw.pid end,
   ticks = function(raw) return raw.ticks end, -- uint64_t
   unix_nanos = function(raw) return raw.unix_nanos end, -- uint64_t
   time = function(raw) return tonumber(raw.unix_nanos) / 1e9 end, -- seconds since 1970
   priority = function(raw) return PRIORITIES[raw.priority] end,
   thread = function(raw) return ffi.string(raw.thread) end,
   group = function(raw) return raw.group[0] ~= 0 and ffi.string(raw.group) or nil end,
   process = function(raw) return ffi.string(raw.process) end,
   missed = function(raw) return tonumber(raw.missed) end, -- entries of its lane, before it
   important = function(raw) return raw.important end, -- kept when the ring is overwritten
   line = function(raw) return raw.line ~= 0 and raw.line or nil end, -- of the call site, if known
   backtrace = function(raw) -- return addresses, uint64_t, innermost first
      local addresses = {}
      for index = 1, raw.backtrace_count do addresses[index] = raw.backtrace[index - 1] end
      return addresses
   end,
}

-- These texts, and the message that the arguments need, belong to the attached timeline.
local texts = {
   args = value.args_of, -- by number, and their number in n
   cut = value.cut_of, -- by number: true for one that was cut
   category = function(raw) return ffi.string(raw.category) end,
   message = function(raw) return ffi.string(raw.message) end, -- as defined, all its lines
   file = function(raw) return raw.line ~= 0 and ffi.string(raw.file) or nil end,
   channels = function(raw) return raw.channels[0] ~= 0 and ffi.string(raw.channels) or nil end, -- "itv|bbc"
}

-- Kept from one event to the next, as are values (timeline/value.lua).
local Buffer = ffi.typeof "char[?]"
local kept_buffer, kept_size
local needed = ffi.new("size_t[1]")

local function render_more(ev, status)
   repeat
      if status ~= OK then error(ffi.string(C.timeline_last_error()), 2) end
      local size = tonumber(needed[0]) + 1
      local buffer = Buffer(size)
      status = C.timeline_render(ev.raw, buffer, size, needed)
      local length = tonumber(needed[0])
      if status == OK and length < size then
         local text = ffi.string(buffer, length)
         kept_buffer, kept_size = buffer, size
         return text
      end
   until false
end

-- tostring(ev): the message with its arguments, "processed tcp(10), udp(20), and other(3)"; for an
-- event of TIMELINE_PRINTF, exactly what printf would have written.
local function render(ev)
   expect_open(ev.attached)
   local buffer, size = kept_buffer, kept_size
   kept_buffer = nil
   if not buffer then buffer, size = Buffer(1024), 1024 end
   local status = C.timeline_render(ev.raw, buffer, size, needed)
   local length = tonumber(needed[0])
   if status ~= OK or length >= size then return render_more(ev, status) end
   local text = ffi.string(buffer, length)
   kept_buffer, kept_size = buffer, size
   return text
end

local Event = {
   __tostring = render,
   __index = function(ev, name)
      local field = fields[name]
      if texts[name] then
         expect_open(ev.attached)
         field = texts[name]
      end
      local value = field and field(ev.raw)
      rawset(ev, name, value)
      return value
   end,
}

return Event
