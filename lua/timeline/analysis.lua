-- Analyses logs: gives their events in the order of time, over all threads, with what is missing.
--
--   local analysis = require "timeline.analysis"
--   local pass, sum = assert(analysis.open "/timeline"), 0
--   assert(pass:run {
--      wants = { { "net", "net.sent*" } },                 -- patterns of categories and of names
--      fields = { "bytes" },
--      event = function(event) sum = sum + (event.fields.bytes or 0) end,
--   })
--
-- C calls nothing in Lua: this module asks for each event, which LuaJIT compiles.

local ffi = require "ffi"
-- Declares what the header of analyses needs.
require "timeline.library"
local check = require "timeline.check"
local value_at = require("timeline.value").value_at
local PRIORITIES = require("timeline.priorities").PRIORITIES
local expect, shown, is_text = check.expect, check.shown, check.is_text

if not pcall(ffi.typeof, "timeline_analysis_item_t") then ffi.cdef(require "timeline.analysis_cdef") end
local A = require "timeline.find"("libtimeline_analysis", "libtimeline-analysis", "TIMELINE_ANALYSIS_LIBRARY",
   "timeline_analysis_open")
local OK, END = A.TIMELINE_OK, A.TIMELINE_END
local EVENT, GAP, LOSS = A.TIMELINE_ANALYSIS_EVENT, A.TIMELINE_ANALYSIS_GAP, A.TIMELINE_ANALYSIS_LOSS

local analysis = {}

-- A tail call, as check.lua says.
local function failed(status) return check.failed(status, A.timeline_analysis_last_error()) end

-- Places for results. Each call has its own, which costs nothing in compiled code: a finalizer may read another event
-- at any time.
local Number, Text, Size = ffi.typeof "uint64_t[1]", ffi.typeof "const char *[1]", ffi.typeof "size_t[1]"
local Integer, Value = ffi.typeof "int64_t[1]", ffi.typeof "timeline_event_value_t[1]"

local function known_number(event, what)
   local number = Number()
   local status = A.timeline_analysis_number(event, what, number)
   if status == OK then return number[0] end
   if status ~= END then error(ffi.string(A.timeline_analysis_last_error()), 3) end
end

local function plain(what, first)
   return function(event)
      local found = known_number(event, what)
      return found and tonumber(found) + (first or 0)
   end
end

local function known_text(what)
   return function(event)
      local text, size = Text(), Size()
      local status = A.timeline_analysis_text(event, what, text, size)
      if status == OK then return ffi.string(text[0], size[0]) end
      if status ~= END then error(ffi.string(A.timeline_analysis_last_error()), 3) end
   end
end

-- What is known of an event; nil if it is not known.
local KNOWN = {
   unix_nanos = function(event) return known_number(event, A.TIMELINE_ANALYSIS_TIME) end, -- uint64_t
   time = function(event) -- seconds since 1970
      local nanos = known_number(event, A.TIMELINE_ANALYSIS_TIME)
      return nanos and tonumber(nanos) / 1e9
   end,
   ticks = function(event) return known_number(event, A.TIMELINE_ANALYSIS_TICKS) end, -- uint64_t
   priority = function(event)
      local found = known_number(event, A.TIMELINE_ANALYSIS_PRIORITY)
      return found and PRIORITIES[tonumber(found)]
   end,
   core = plain(A.TIMELINE_ANALYSIS_CORE), node = plain(A.TIMELINE_ANALYSIS_NODE),
   tid = plain(A.TIMELINE_ANALYSIS_TID), pid = plain(A.TIMELINE_ANALYSIS_PID),
   log = plain(A.TIMELINE_ANALYSIS_LOG, 1), -- which of the paths
   subscription = plain(A.TIMELINE_ANALYSIS_SUBSCRIPTION, 1), -- the first of `wants` that wants it
   important = function(event) return known_number(event, A.TIMELINE_ANALYSIS_IMPORTANT) == 1 end,
   category = known_text(A.TIMELINE_ANALYSIS_CATEGORY), name = known_text(A.TIMELINE_ANALYSIS_NAME),
   thread = known_text(A.TIMELINE_ANALYSIS_THREAD), group = known_text(A.TIMELINE_ANALYSIS_GROUP),
   process = known_text(A.TIMELINE_ANALYSIS_PROCESS), host = known_text(A.TIMELINE_ANALYSIS_HOST),
   path = known_text(A.TIMELINE_ANALYSIS_PATH), clock = known_text(A.TIMELINE_ANALYSIS_CLOCK),
   boot = known_text(A.TIMELINE_ANALYSIS_BOOT),
}
local message = known_text(A.TIMELINE_ANALYSIS_MESSAGE)

-- The object of C, as long as it is the one that was given last.
local function object_of(pass)
   local event = pass.item[0].event
   if event == nil then
      error("timeline: expected an event before the next one is asked for, got one that is over", 3)
   end
   return event
end

local function handle_of(pass, name)
   local handle = pass.handles[name]
   if not handle then
      error(("timeline: expected a field that was asked for, got %s; name it in fields"):format(shown(name)), 3)
   end
   return handle
end

-- event.fields.bytes: the value of a field, as an attached timeline gives it; nil if the event has none.
local Fields = { __index = function(fields, name)
   local pass, value = fields[1], Value()
   local status = A.timeline_analysis_value(object_of(pass), handle_of(pass, name), value)
   if status == OK then return value_at(value, 0) end
   if status ~= END then error(ffi.string(A.timeline_analysis_last_error()), 2) end
end }

local methods = {}

-- The name of the number in a field, of an enum or flags ("r|w"), and the number; nil if it has no name, or the event
-- no value.
function methods.label(event, name)
   local pass, integer, text = event[1], Integer(), Text()
   local status = A.timeline_analysis_label(object_of(pass), handle_of(pass, name), integer, text)
   if status == END then return nil end
   if status ~= OK then error(ffi.string(A.timeline_analysis_last_error()), 2) end
   return text[0] ~= nil and ffi.string(text[0]) or nil, tonumber(integer[0])
end

-- The event that was given last: it is the same table each time.
local Event = {
   __tostring = function(event) return message(object_of(event[1])) end,
   __index = function(event, name)
      local known = KNOWN[name]
      if known then return known(object_of(event[1])) end
      return methods[name]
   end,
}

local Pass = { __tostring = function(pass) return "timeline analysis" .. (pass.handle and "" or " (closed)") end }
Pass.__index = Pass

local function expect_open(pass)
   if not pass.handle then error("timeline: expected an analysis that is open, got one that is closed", 3) end
end

local function opened(out)
   local pass = setmetatable({ handle = ffi.gc(out[0], A.timeline_analysis_free), handles = {},
      item = ffi.new "timeline_analysis_item_t[1]" }, Pass)
   pass.event = setmetatable({ pass, fields = setmetatable({ pass }, Fields) }, Event)
   return pass
end

local EXTENTS = { held = A.TIMELINE_ANALYSIS_HELD, oldest = A.TIMELINE_ANALYSIS_FROM_OLDEST,
   now = A.TIMELINE_ANALYSIS_FROM_NOW }

-- Opens a log, or several in a table: timelines, snapshots, archives, directories of archives. `follow` is nil for what
-- they hold by now, "oldest" or "now" for what comes to them.
function analysis.open(paths, follow)
   if type(paths) == "string" then paths = { paths } end
   expect(type(paths) == "table" and #paths > 0, "paths", "a path, or some in a table", paths)
   for _, path in ipairs(paths) do expect(is_text(path), "path", "a string", path) end
   local extent = EXTENTS[follow or "held"]
   expect(extent, "follow", "oldest, now or nil", follow)
   local out = ffi.new "timeline_analysis_t *[1]"
   local given = ffi.new("const char *[?]", #paths, paths)
   local status = A.timeline_analysis_open(given, #paths, extent, out)
   if status ~= OK then return failed(status) end
   return opened(out)
end

-- Opens an archive whose bytes come from a descriptor: a pipe, a connection, or 0.
function analysis.read(descriptor)
   expect(type(descriptor) == "number" and descriptor >= 0 and descriptor % 1 == 0 and descriptor < 2 ^ 31,
      "descriptor", "the number of a descriptor", descriptor)
   local out = ffi.new "timeline_analysis_t *[1]"
   local status = A.timeline_analysis_open_descriptor(descriptor, out)
   if status ~= OK then return failed(status) end
   return opened(out)
end

-- Says which events are wanted, before the first is asked for: a list of { category, name }, patterns in which `*` is
-- any text and `?` any one character; all events if there is none. And which fields are read, by their names.
function Pass:want(wants, fields)
   expect_open(self)
   expect(wants == nil or type(wants) == "table", "wants", "a list of { category, name }, or nil", wants)
   expect(fields == nil or type(fields) == "table", "fields", "a list of names, or nil", fields)
   for _, want in ipairs(wants or {}) do
      expect(type(want) == "table" and is_text(want[1]) and is_text(want[2]), "want", "{ category, name }", want)
   end
   for _, name in ipairs(fields or {}) do expect(is_text(name), "field", "a name in a string", name) end
   local out = ffi.new "timeline_subscriptions_t *[1]"
   local status = A.timeline_analysis_subscriptions(self.handle, out)
   for _, want in ipairs(wants or {}) do
      if status ~= OK then break end
      status = A.timeline_analysis_events(out[0], want[1], want[2], nil)
   end
   if status == OK and not (wants and wants[1]) then status = A.timeline_analysis_events(out[0], nil, nil, nil) end
   local field = ffi.new "timeline_analysis_field_t[1]"
   for _, name in ipairs(fields or {}) do
      if status ~= OK then break end
      status = A.timeline_analysis_field(out[0], name, field)
      self.handles[name] = field[0]
   end
   if status ~= OK then return failed(status) end
   self.has_wants = true
   return true
end

local LACKS = { [A.TIMELINE_LACK_UNREAD] = "unread", [A.TIMELINE_LACK_UNRECORDED] = "unrecorded",
   [A.TIMELINE_LACK_UNKNOWN] = "unknown", [A.TIMELINE_LACK_DAMAGED] = "damaged",
   [A.TIMELINE_LACK_REMOVED] = "removed", [A.TIMELINE_LACK_GONE] = "gone",
   [A.TIMELINE_LACK_UNREADABLE] = "unreadable" }

local KINDS = { [A.TIMELINE_ANALYSIS_IDLE] = "idle", [A.TIMELINE_ANALYSIS_WHOLE] = "whole",
   [A.TIMELINE_ANALYSIS_CANCELLED] = "cancelled" }

local function gap_of(gap)
   return { log = tonumber(gap.log) + 1, entries = gap.knows_entries and tonumber(gap.entries) or nil,
      before = gap.knows_before and gap.before or nil }
end

local function loss_of(loss)
   return { log = tonumber(loss.log) + 1, what = LACKS[loss.what],
      amount = loss.knows_amount and tonumber(loss.amount) or nil, text = ffi.string(loss.text) }
end

-- What comes next: "event" with an event, which is over when the next is asked for; "gap" with its log, the entries
-- that are missing and the time of the event before which they are; "loss" with its log, what, amount and text; "idle"
-- if nothing has come within that many seconds; or how it has ended: "whole" or "cancelled".
function Pass:next(seconds)
   expect_open(self)
   expect(seconds == nil or type(seconds) == "number" and seconds >= 0 and seconds < 1e9, "seconds",
      "a number of seconds, or nil", seconds)
   if not self.has_wants then
      local done, said, kind = self:want()
      if not done then return nil, said, kind end
   end
   local item = self.item[0]
   item.event = nil
   local status = A.timeline_analysis_next(self.handle, (seconds or 0) * 1e9, self.item)
   if status ~= OK then return failed(status) end
   local kind = item.kind
   if kind == EVENT then return "event", self.event end
   if kind == GAP then return "gap", gap_of(item.gap) end
   if kind == LOSS then return "loss", loss_of(item.loss) end
   return KINDS[kind]
end

local CALLS = { event = "function", gap = "function", loss = "function", wants = "table", fields = "table" }

-- Gives an analyser all that comes, until it ends. The analyser is a table: `wants` and `fields`, as for `want`, and
-- the functions `event`, `gap` and `loss`, which are given what `next` gives. If `event` returns false, it wants no
-- more. Returns how it has ended: "whole", "cancelled" or "enough".
function Pass:run(analyzer)
   expect_open(self)
   expect(type(analyzer) == "table" and type(analyzer.event) == "function", "analyzer",
      "a table with a function event", analyzer)
   for name, given in pairs(analyzer) do
      expect(CALLS[name], "a part of an analyzer", "event, gap, loss, wants or fields", name)
      expect(type(given) == CALLS[name], name, "a " .. CALLS[name], given)
   end
   local done, said, kind = self:want(analyzer.wants, analyzer.fields)
   if not done then return nil, said, kind end
   local event, gap, loss = analyzer.event, analyzer.gap, analyzer.loss
   while true do
      local what, given, more = self:next(1)
      if what == "event" then
         if event(given) == false then return "enough" end
      elseif what == "gap" then
         if gap then gap(given) end
      elseif what == "loss" then
         if loss then loss(given) end
      elseif what ~= "idle" then
         return what, given, more
      end
   end
end

-- Has it end soon: what is asked for next says "cancelled".
function Pass:cancel()
   expect_open(self)
   A.timeline_analysis_cancel(self.handle)
end

-- Frees it now, not when it is collected. A second close does nothing.
function Pass:close()
   if not self.handle then return end
   self.item[0].event = nil
   A.timeline_analysis_free(ffi.gc(self.handle, nil))
   self.handle = nil
end

return analysis
