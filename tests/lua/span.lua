-- Spans: two functions that log two events, with the arguments of one message.
local timeline = require "timeline"
local name, folder = arg[1], arg[2]

local tl = assert(timeline.new(name, 1024))
local begin, done = assert(timeline.define_span(tl, 'engine', 'info', "breath $packets"))
begin(10)
done(17)
local begin_text, done_text = assert(tl:define_span("engine", "info", "link $name:str $speed:f64"))
begin_text("eth0", 0.5)
done_text("eth0", 1)
local started, finished = assert(tl:define_async_span("engine", "info", "request $id", { channels = "itv=on", important = true }))
started(7)
finished(7)
local off = assert(tl:define_span("engine", "packet", "nothing"))
assert(tl:priority("info"))
off()

-- The events are those of their messages, whoever defines them.
local same = assert(tl:define("engine", "info", "begin breath $packets"))
same(1)

local lines, important = {}, 0
for event in assert(timeline.attach(tl)):events("oldest") do
   if event.important then
      assert(event.channels == "itv")
      important = important + 1
   else
      lines[#lines + 1] = event.event .. " " .. tostring(event)
   end
end
local first = lines[1]:match "^%d+"
assert(important == 2, important)
assert(lines[1] == first .. " begin breath packets(10)", lines[1])
assert(lines[2]:find " end breath packets%(17%)$", lines[2])
assert(lines[3]:find " begin link name%(eth0%) speed%(0.5%)$", lines[3])
assert(lines[4]:find " end link name%(eth0%) speed%(1.0%)$", lines[4])
assert(lines[5] == first .. " begin breath packets(1)", lines[5])
assert(#lines == 5)

-- Arguments are checked like those of other events, at the line of the call.
local line = debug.getinfo(1, "l").currentline + 1
local ok, why = pcall(function() begin("x") end)
assert(not ok and why:find("span.lua:" .. line .. ":", 1, true) and why:find("$packets", 1, true), why)
ok, why = pcall(done)
assert(not ok and why:find("expected 1 argument ($packets), got 0", 1, true), why)

-- Those of a catalogue have the names of their events.
local file = assert(io.open(folder .. "/engine.events", "w"))
file:write("info span|turn $n\nA turn.\n\ninfo async_span|job $id\n")
file:close()
local events = assert(tl:load(folder .. "/engine.events"))
for _, what in ipairs { "begin_turn", "end_turn", "start_job", "finish_job" } do events["engine." .. what](3) end
local last = {}
for event in assert(timeline.attach(tl)):events("newest") do
   if not event.important then last[#last + 1] = event.message end
   if #last == 4 then break end
end
assert(table.concat(last, "|") == "finish job $id|start job $id|end turn $n\nA turn.|begin turn $n\nA turn.", table.concat(last, "|"))
timeline.unlink(name)
