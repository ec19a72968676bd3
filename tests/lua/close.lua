-- close() lets go at once; what was defined does nothing after it, and every other use is an error.
local timeline = require "timeline"
local name = arg[1]
local here = debug.getinfo(1, "S").short_src

local function raises(f, ...)
   local arguments, n = { ... }, select("#", ...)
   local ok, message = pcall(function()
      local result = f(unpack(arguments, 1, n))
      return result
   end)
   assert(not ok, "expected an error")
   assert(message:find("open, got .*" .. name:gsub("%p", "%%%0") .. " %(closed%)"), message)
   return message
end

local function count(path)
   local total = 0
   for _ in assert(timeline.attach(path)):events() do total = total + 1 end
   return total
end

local tl = assert(timeline.new(name, 256))
local logs = {
   [0] = assert(tl:define("test", "info", "none")), assert(tl:define("test", "info", "$a")),
   assert(tl:define("test", "info", "$a $b")), assert(tl:define("test", "info", "$a $b $c")),
   assert(tl:define("test", "info", "$a $b $c $d")),
}
local function log_all()
   for number = 0, 4 do logs[number](unpack({ 1, 2, 3, 4 }, 1, number)) end
end
log_all()
assert(count(name) == 5)
assert(select(3, timeline.new(name)) == "in_use")

-- At once: the name is free without a collection, though the functions are still held.
collectgarbage("stop")
tl:close()
local next = assert(timeline.new(name, 256))
log_all()
assert(count(name) == 0 and count(name .. ".prev") == 5)
-- Compiled as well.
for _ = 1, 2000 do log_all() end
assert(count(name) == 0)
collectgarbage("restart")

tl:close()
timeline.close(tl)
assert(tostring(tl) == "timeline " .. name .. " (closed)")
local message = raises(timeline.define, tl, "test", "info", "m")
assert(message:find(here, 1, true) == 1, "raised elsewhere: " .. message)
raises(timeline.priority, tl, "all")
raises(timeline.level, tl)
raises(timeline.sample, tl, "all", 0.001, 0.1)
raises(timeline.save, tl, arg[2] .. "/snapshot")
raises(timeline.dump, tl)
raises(timeline.attach, tl)
assert(not pcall(timeline.close, name) and not pcall(timeline.close))

-- Closed in the middle of a compiled loop: from the next call on nothing is logged.
local log = assert(next:define("test", "info", "number $n"))
for number = 1, 200 do
   if number == 151 then next:close() end
   log(number)
end
assert(count(name) == 150, count(name))

-- Collected after it was closed, and with what was defined: freed once.
tl, next, log, logs = nil, nil, nil, nil
collectgarbage()
collectgarbage()

-- A sampler ends with its timeline, and a stop after that does nothing.
tl = assert(timeline.open(name))
assert(tl:priority("error"))
local sampler = assert(tl:sample("all", 0.001, 0.1))
local other = assert(timeline.open(name))
tl:close()
local second = assert(other:sample("all", 0.001, 0.1), "nobody samples any more")
sampler:stop()
sampler:close()
second:close()
assert(assert(other:sample("all", 0.001, 0.1)))

-- An attached one, its cursors, and its events.
local at = assert(timeline.attach(other))
local cursor, follow = assert(at:events("newest")), assert(at:follow())
local known, unknown = cursor(), cursor()
assert(known.category == "test" and known.args[1] == 150 and tostring(known) == "number n(150)")
at:close()
at:close()
assert(tostring(at) == "attached " .. name .. " (closed)")
raises(at.events, at)
raises(at.follow, at)
raises(cursor)
raises(follow)
raises(follow.missed, follow)
raises(function() return unknown.category end)
raises(function() return unknown.message end)
raises(function() return unknown.args end)
raises(tostring, unknown)
assert(known.category == "test" and known.args[1] == 150 and unknown.pid > 0)

-- A cursor alone.
at = assert(timeline.attach(other))
cursor = at:events()
cursor:close()
cursor:close()
raises(cursor)
assert(at:events()().args[1] == 1)

-- Nothing stays open, though all of it is held and nothing is collected.
-- Through a file: of a pipe, this process would have one end or both, as it happens.
local function descriptors()
   local file = arg[2] .. "/descriptors"
   os.execute("ls /proc/$PPID/fd | wc -l >" .. file)
   local opened = assert(io.open(file))
   local number = tonumber(opened:read("*a"))
   opened:close()
   return number
end
collectgarbage()
collectgarbage()
collectgarbage("stop")
local before = descriptors()
local held = {}
for round = 1, 20 do
   local writer, reader = assert(timeline.open(name)), assert(timeline.attach(name))
   held[round] = { writer, reader, reader:events(), writer:define("test", "info", "kept") }
   writer:close()
   reader:close()
end
local after = descriptors()
assert(after == before, ("%d descriptors became %d"):format(before, after))
