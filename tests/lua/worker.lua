-- Workers: record to a file by a thread or step by step, and leave nothing out when they end in any way.
local timeline = require "timeline"
local worker = require "timeline.worker"
local name, folder = arg[1], arg[2]

local tl = assert(timeline.new(name, 4096))
local number = timeline.define(tl, "test", "info", "number $n")
local file = folder .. "/flight.tla"

local recording = assert(worker.start(tl, { file = file, shortest_wait = 0.001, longest_wait = 0.01 }))
for n = 0, 99 do number(n) end
assert(recording:flush(60))
assert(recording:totals().events == 100)
assert(recording:trouble() == nil)
local second, message, kind = worker.start(tl, { file = file })
assert(second == nil and message:find "another recorder" and kind == "busy", message)
number(100)
local totals = recording:stop()
assert(totals.events == 101 and totals.missed == 0 and totals.overwritten == 0 and totals.left == 0)
assert(tostring(recording) == "timeline worker (stopped)" and recording:stop() == nil)
-- What is stopped does nothing.
assert(recording:flush(60) and recording:update(1) and recording:totals().events == 0)

-- Without a thread.
local pumped = assert(worker.start(tl, { file = file, thread = false }))
for n = 101, 199 do
   number(n)
   assert(pumped:update(0.001))
end
assert(pumped:stop().events == 99)

-- Nobody asks for one, and somebody does.
assert(worker.start(tl) == false)
local options = {}
assert(worker.option(options, "-trace=net") == false and next(options) == nil)
assert(worker.option(options, "--tracehost=db1") and options.store == "db1" and options.file == nil)
assert(worker.option(options, "-tracefile=" .. file) and options.file == file and options.store == nil)

-- Mistakes are raised at the line of the program.
local function raises(part, call, ...)
   local ok, said = pcall(call, ...)
   assert(not ok and said:find(part, 1, true), tostring(said))
   assert(said:find("worker.lua:", 1, true), said)
end
raises("a timeline", function() worker.start(nil) end)
raises("no option", function() worker.start(tl, { fil = file }) end)
raises("as rotate_size", function() worker.start(tl, { file = file, rotate_size = "64M" }) end)
raises("as acknowledge", function() worker.start(tl, { store = "db1", acknowledge = "all" }) end)
raises("a file and a store", function() worker.start(tl, { store = "db1", file = file }) end)
raises("expected a path", function() worker.option({}, "-tracefile=") end)
raises("seconds", function() pumped:flush "long" end)

-- One that is collected has stopped.
do
   local lost = assert(worker.start(tl, options))
   for n = 200, 299 do number(n) end
   lost = nil
end
collectgarbage()
collectgarbage()
recording = assert(worker.start(tl, options))

-- One that is running when Lua exits is stopped there; its timeline may go first.
for n = 300, 399 do number(n) end
leaked = recording
tl:close()
