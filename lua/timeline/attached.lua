-- Reads timelines: attaches to them, walks over their events and follows them.

local ffi = require "ffi"
local C = require "timeline.library"
local check = require "timeline.check"
local object = require "timeline.object"
local Event = require "timeline.event"
local timeline = object.methods
local failed, done, expect, is_text, is_size = check.failed, check.done, check.expect, check.is_text, check.is_size
local is_timeline, expect_timeline, expect_open = object.is_timeline, object.expect_timeline, object.expect_open
local described, handle_of, dependants, close_all =
   object.described, object.handle_of, object.dependants, object.close_all
local OK, END = C.TIMELINE_OK, C.TIMELINE_END

-- Prints the newest `maxentries` events (all when nil), newest first, on standard output. `source`
-- is a timeline, the path of one, or a snapshot.
function timeline.dump(source, maxentries)
   if is_timeline(source) then
      expect_open(source)
      source = source.path
   end
   if not is_text(source) then expect_timeline(source, "a timeline or a path") end
   expect(maxentries == nil or is_size(maxentries), "maxentries", "a positive integer or nil", maxentries)
   -- The library writes to the descriptor, so Lua's buffered output must go first.
   io.stdout:flush()
   return done(C.timeline_dump(source, maxentries or 0, 1))
end

local Attached = { __tostring = described "attached" }
Attached.__index = Attached

-- Attaches to `source` for reading only: a timeline, the path of one, NAME.prev or a snapshot.
function timeline.attach(source)
   if is_timeline(source) then
      expect_open(source)
      source = source.path
   end
   if not is_text(source) then expect_timeline(source, "a timeline or a path") end
   local out = ffi.new("timeline_attached_t *[1]")
   local status = C.timeline_attach(source, out)
   if status ~= OK then return failed(status) end
   local handle = handle_of(out, C.timeline_attached_free)
   return setmetatable({ path = source, handle = handle, cursors = dependants() }, Attached)
end

-- Unmaps the timeline now, not when it is collected. Its cursors are closed with it, and those
-- texts and arguments of its events that were not read before are lost. A second close does nothing.
function Attached:close()
   if self.closed then return end
   self.closed = true
   close_all(self.cursors)
   C.timeline_attached_free(ffi.gc(self.handle, nil))
   self.handle = nil
end

local Cursor = { __tostring = described "cursor of" }
Cursor.__index = Cursor

-- C fills it. It is taken while it is filled: see timeline/value.lua.
local Raw = ffi.typeof "timeline_event_t"
local kept_raw

local Event_pointer = ffi.typeof "const timeline_event_t *"
local Bytes, Addresses = ffi.typeof "const uint8_t *", ffi.typeof "const uint64_t *"
local EVENT_SIZE = ffi.sizeof(Raw)

-- The next event, or nil at the end (when following: when there is no new event).
function Cursor:__call()
   expect_open(self)
   local raw = kept_raw or Raw()
   kept_raw = nil
   local status = C.timeline_next(self.handle, raw)
   if status == OK then
      -- The texts of `raw` belong to the attached timeline, so the event holds that. Payload and backtrace belong to
      -- the cursor until the next event, so they are copied, and so is the event: as strings, which compiled code can
      -- make.
      local payload = ffi.string(raw.payload, raw.payload_size)
      local backtrace = ffi.string(raw.backtrace, 8 * raw.backtrace_count)
      -- Without a payload, the words of the event are its values.
      if raw.payload_size > 0 then raw.payload = ffi.cast(Bytes, payload) end
      if raw.backtrace_count > 0 then raw.backtrace = ffi.cast(Addresses, backtrace) end
      local all = ffi.string(raw, EVENT_SIZE)
      kept_raw = raw
      return setmetatable({ raw = ffi.cast(Event_pointer, all), attached = self.attached, all = all,
         payload = payload, addresses = backtrace }, Event)
   end
   kept_raw = raw
   if status ~= END then
      error(ffi.string(C.timeline_last_error()), 2)
   end
end

-- How many entries were overwritten before they were read. An event takes one, an event with a
-- payload several, and entries that fill up a chunk count as well.
function Cursor:missed()
   expect_open(self)
   return tonumber(C.timeline_missed(self.handle))
end

-- Ends the walk and releases what it holds. A second close does nothing.
function Cursor:close()
   if self.closed then return end
   self.closed = true
   C.timeline_cursor_free(ffi.gc(self.handle, nil))
   self.handle = nil
end

local function cursor(at, open, where)
   local out = ffi.new("timeline_cursor_t *[1]")
   local status = open(at.handle, where, out)
   if status ~= OK then return failed(status) end
   local handle = handle_of(out, C.timeline_cursor_free)
   local made = setmetatable({ path = at.path, attached = at, handle = handle }, Cursor)
   at.cursors[made] = true
   return made
end

local ORDERS = { oldest = C.TIMELINE_OLDEST_FIRST, newest = C.TIMELINE_NEWEST_FIRST }
local STARTS = { oldest = C.TIMELINE_FROM_OLDEST, now = C.TIMELINE_FROM_NOW }

-- for ev in at:events("oldest") do print(ev.time, ev) end
function Attached:events(order)
   expect_open(self)
   local where = ORDERS[order or "oldest"]
   expect(where, "order", "oldest or newest", order)
   return cursor(self, C.timeline_events, where)
end

-- local new = at:follow() -- from now on; at:follow("oldest") begins with the oldest event while
-- running do for ev in new do print(ev) end end
function Attached:follow(start)
   expect_open(self)
   local where = STARTS[start or "now"]
   expect(where, "start", "now or oldest", start)
   return cursor(self, C.timeline_follow, where)
end

return { STARTS = STARTS }
