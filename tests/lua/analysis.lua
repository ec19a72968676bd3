-- Prints all that an analysis tells, a line for each: analysis.lua HOW WANTED PATH... ; and tries mistakes.
local timeline = require "timeline"
local analysis = require "timeline.analysis"
local how, wanted, first = arg[1], arg[2], arg[3]

local NUMBERS = { error = 1, warning = 2, info = 3, trace = 4, app = 5, packet = 6, library = 7 }
local LACKS = { unread = 1, unrecorded = 2, unknown = 3, damaged = 4, removed = 5, gone = 6, unreadable = 7 }
local ENDS = { whole = 2, cancelled = 3 }

local function shown(value) return value == nil and "?" or (tostring(value):gsub("ULL$", "")) end

local function print_event(event)
   local priority = event.priority
   local words = { event.log - 1, event.subscription - 1, shown(event.name), shown(event.category),
      shown(event.fields.number), shown(event.unix_nanos), shown(event.ticks),
      shown(priority and NUMBERS[priority]), shown(event.core), shown(event.node), shown(event.tid), shown(event.pid),
      event.important and 1 or 0, shown(event.thread), shown(event.group), shown(event.process), shown(event.host),
      event.path, shown(event.clock), shown(event.boot), tostring(event) }
   print("event " .. table.concat(words, " "))
   assert(event.nothing == nil)
   assert(not event.unix_nanos or event.time == tonumber(event.unix_nanos) / 1e9)
end

local function print_gap(gap) print(("gap %d %s %s"):format(gap.log - 1, shown(gap.entries), shown(gap.before))) end

local function print_loss(loss)
   print(("loss %d %d %s %s"):format(loss.log - 1, LACKS[loss.what], shown(loss.amount), loss.text))
end

local wants = wanted == "some" and { { "net", "net.*" }, { "*", "*.got" } } or nil
local paths = { unpack(arg, 3) }
local pass
if first == "-" then
   pass = assert(analysis.read(0))
else
   pass = assert(analysis.open(paths))
end

if how == "run" then
   print("end " .. ENDS[pass:run { wants = wants, fields = { "number" }, event = print_event, gap = print_gap,
      loss = print_loss }])
elseif how == "next" then
   assert(pass:want(wants, { "number" }))
   local print_item = { event = print_event, gap = print_gap, loss = print_loss }
   local kind, item = pass:next()
   while print_item[kind] or kind == "idle" do
      if kind ~= "idle" then print_item[kind](item) end
      kind, item = pass:next()
   end
   print("end " .. ENDS[kind])
   assert(pass:next() == kind)
   pass:close()
   pass:close()
   assert(tostring(pass) == "timeline analysis (closed)")
else
   local function raises(part, call, ...)
      local ok, said = pcall(call, ...)
      assert(not ok and said:find(part, 1, true), tostring(said))
      assert(said:find("analysis.lua:", 1, true) and not said:find("timeline/analysis.lua", 1, true), said)
   end
   -- The fields of the event of tests/ffi/analyses.rs.
   local names = { "len", "host", "color", "mode", "ratio", "ok", "sizes", "letter", "took", "plain", "none", "other" }
   local count, kept = 0
   local ended = pass:run { fields = names, event = function(event)
      count, kept = count + 1, event
      local fields = event.fields
      assert(fields.len == 1500 and fields.host == "eth0" and fields.color == 2 and fields.mode == 3)
      assert(fields.ratio == 0.5 and fields.ok == true and fields.letter == 0x1f600 and fields.took == -9)
      assert(#fields.sizes == 2 and fields.sizes[1] == 7 and fields.sizes[2] == 300)
      assert(fields.none == nil and fields.other == nil and fields.plain == -4)
      local name, value = event:label "mode"
      assert(name == "r|w" and value == 3 and event:label "color" == "green" and event:label "other" == nil)
      raises("timeline_analysis_label does not read that", function() local _ = event:label "len" end)
      raises('got "sent"', function() return fields.sent end)
      raises('got "sent"', function() local _ = event:label "sent" end)
   end }
   assert(ended == "whole" and count == 2)
   raises("one that is over", function() return kept.name end)
   raises("one that is over", function() local _ = tostring(kept) end)
   raises("one that is over", function() return kept.fields.len end)
   raises("the first event was asked for", function() pass:want() end)
   raises("as seconds", function() pass:next(-1) end)

   -- It wants no more, it is cancelled, and an error of Lua is that of the run.
   local function open() return assert(analysis.open(first)) end
   count = 0
   assert(open():run { event = function() count = count + 1 return false end } == "enough" and count == 1)
   pass = open()
   assert(pass:run { event = function() pass:cancel() end } == "cancelled")
   local ok, said = pcall(function() open():run { event = function() error "the notebook is full" end } end)
   assert(not ok and said:find "the notebook is full")

   -- What comes to a timeline.
   local tl = assert(timeline.new(first .. ".grows", 1024))
   local tick = timeline.define(tl, "a", "info", "tick $n")
   local growing = assert(analysis.open(tl.path, "now"))
   assert(growing:want({ { "a", "a.tick" } }, { "n" }))
   assert(growing:next(0.001) == "idle")
   tick(7)
   local kind, event = growing:next(60)
   assert(kind == "event" and event.fields.n == 7 and event.name == "a.tick" and event.tid > 0)
   assert(growing:next() == "idle")
   raises("one that is over", function() return event.name end)
   growing:cancel()
   assert(growing:next(60) == "cancelled")
   assert(assert(analysis.open({ tl.path }, "oldest")):next() == "event")
   tl:close()

   -- Mistakes.
   local none, message, what = analysis.open "/timeline-that-nobody-made"
   assert(none == nil and message:find "no timeline at" and what == "not_found")
   none, message, what = analysis.read(1048576)
   assert(none == nil and what == "io")
   raises("as paths", function() analysis.open() end)
   raises("as paths", function() analysis.open {} end)
   raises("as path,", function() analysis.open { 1 } end)
   raises("as follow", function() analysis.open("x", "later") end)
   raises("as descriptor", function() analysis.read "x" end)
   raises("as want,", function() open():want { "net" } end)
   raises("as field,", function() open():want({}, { 1 }) end)
   raises("as analyzer", function() open():run {} end)
   raises("a part of an analyzer", function() open():run { event = print, events = print } end)
   raises("as gap", function() open():run { event = print, gap = 1 } end)
   pass:close()
   raises("got one that is closed", function() pass:next() end)
   raises("got one that is closed", function() pass:cancel() end)
   print "analysis: ok"
end
