-- Sampling: the level stays what it was set to, and stopping restores it, by hand or by collection.
local timeline = require "timeline"
local name = arg[1]

local tl = assert(timeline.new(name, 256))
assert(tl:priority("error"))
local detail = assert(tl:define("test", "packet", "detail"))

local function count()
   local total = 0
   for _ in assert(timeline.attach(name)):events() do total = total + 1 end
   return total
end

-- With half of the time raised, events get through sooner or later, and others do not.
local sampler = assert(timeline.sample(tl, "all", 0.005, 0.01))
assert(tl:level() == "error")
repeat detail() until count() > 0
local refused, message = tl:sample("all", 0.0001, 0.01)
assert(refused == nil and message, "a second sampler has to wait")
sampler:stop()
sampler:stop()
local before = count()
for _ = 1, 1000 do detail() end
assert(count() == before, "still raised after stop")

-- One that is collected has stopped too.
assert(tl:sample("all", 0.005, 0.01))
collectgarbage()
collectgarbage()
before = count()
for _ = 1, 1000 do detail() end
assert(count() == before, "still raised after collection")

-- One that is running when Lua exits is stopped there; its timeline may go first.
leaked = assert(tl:sample("all", 0.0001, 0.01))
