-- Reading: typed events, both orders, snapshots, following, and what was missed.
local ffi = require "ffi"
local timeline = require "timeline"
local name, folder = arg[1], arg[2]
local snapshot = folder .. "/snapshot.timeline"

local tl = assert(timeline.new(name, 256))
local log = assert(tl:define("net", "packet", "saw $bytes on $port\nCounts the payload only."))
local note = assert(tl:define("app", "info", "done"))
for number = 1, 10 do log(number, -number) end
note()

local function list(source, order)
   local events = {}
   for event in assert(source:events(order)) do events[#events + 1] = event end
   return events
end

local function check(at)
   local oldest, newest = list(at, "oldest"), list(at, "newest")
   assert(#oldest == 11 and #newest == 11 and #list(at) == 11)
   for index, event in ipairs(oldest) do
      assert(event.ticks == newest[12 - index].ticks)
      assert(index == 1 or event.ticks >= oldest[index - 1].ticks)
   end
   local first, last = oldest[1], oldest[11]
   assert(first.category == "net" and first.priority == "packet")
   assert(first.message == "saw $bytes on $port\nCounts the payload only.")
   assert(#first.args == 2 and first.args[1] == 1 and first.args[2] == -1)
   assert(tostring(first) == "saw bytes(1) on port(-1)")
   assert(#last.args == 0 and tostring(last) == "done" and last.priority == "info")
   assert(first.event ~= last.event and first.event > 0)
   assert(first.thread == "luajit" and first.process == "luajit")
   assert(first.tid == first.pid and first.pid > 0)
   assert(type(first.core) == "number" and type(first.node) == "number")
   assert(math.abs(first.time - os.time()) < 3600)
   assert(first.nonsense == nil)
end

local at = assert(timeline.attach(name))
assert(tostring(at) == "attached " .. name)
check(at)
assert(timeline.save(tl, snapshot))
check(assert(timeline.attach(snapshot)))

-- Integers that a Lua number cannot hold come as int64_t.
log(2LL ^ 62 + 1, 2 ^ 52 + 1)
local exact = at:events("newest")()
assert(exact.args[1] == 2LL ^ 62 + 1 and type(exact.args[1]) == "cdata")
assert(exact.args[2] == 2 ^ 52 + 1 and type(exact.args[2]) == "number")

-- Messages longer than the first guess of a buffer.
local long = ("word "):rep(200) .. "$x"
assert(tl:define("app", "info", long))(5)
assert(tostring(at:events("newest")()) == ("word "):rep(200) .. "x(5)")

-- Following from now on sees what comes, once.
local follow = assert(at:follow())
assert(follow() == nil)
log(100, 1)
log(101, 1)
local got = {}
for event in follow do got[#got + 1] = event.args[1] end
assert(#got == 2 and got[1] == 100 and got[2] == 101)
assert(follow() == nil and follow:missed() == 0)

-- From the oldest on, and past the ring: every event is either read or counted as missed.
local all = assert(at:follow("oldest"))
local before, read = 0, 0
for _ in all do before = before + 1 end
assert(before == 15, before)
for number = 1, 10000 do log(number, 0) end
local previous, missed = 0, 0
for event in all do
   read = read + 1
   missed = missed + event.missed
   assert(event.args[1] > previous, "out of order")
   previous = event.args[1]
end
assert(previous == 10000)
assert(read + all:missed() == 10000, read .. " + " .. all:missed())
assert(all:missed() > 0)
-- Each event says what is missing right before it.
assert(missed == all:missed(), missed)
local there, gone = 0, 0
for event in at:events("newest") do there, gone = there + 1, gone + event.missed end
assert(there + gone == before + 10000, there .. " + " .. gone)

-- NaNs of any bits, which LuaJIT would take for values of other types.
local bits = ffi.new "union { uint32_t half[4]; double number[2]; float single[4]; }"
for index, half in ipairs { 0xffffffff, 0xffffffff, 0x12345678, 0xfff92345 } do bits.half[index - 1] = half end
assert(tl:define("app", "info", "not $numbers:f64[] $singles:f32[]"))(bits.number, bits.single)
local read_back = at:events("newest")().args
for index = 1, 2 do assert(type(read_back[1][index]) == "number" and read_back[1][index] ~= read_back[1][index]) end
for _, index in ipairs { 1, 2, 4 } do assert(read_back[2][index] ~= read_back[2][index]) end
assert(read_back[2][3] == 0x1.68acfp-91)

-- An event of many arguments has them all, and no more.
local names, numbers = {}, {}
for index = 1, 64 do names[index], numbers[index] = "$a" .. index, index end
local many = assert(tl:define("app", "info", table.concat(names, " ")))
many(unpack(numbers))
local kept = at:events("newest")()
collectgarbage()
assert(#kept.args == 64)
for index = 1, 64 do assert(kept.args[index] == index, index) end

-- Values come back as what they are.
local words = assert(tl:define("app", "info", "$a:u8 $b:u64 $c:f32 $d:enum(red=1,green=2) $e:bool"))
words(300, -1LL, 0.5, "green", true)
local args = at:events("newest")().args
assert(args.n == 5 and args[1] == 44 and args[2] == -1ULL and args[3] == 0.5 and args[4] == 2 and args[5] == true)
assert(tl:define("app", "info", "$a:u8 $b:f64"))(511, 0.25)
args = at:events("newest")().args
assert(args.n == 2 and args[1] == 255 and args[2] == 0.25)
local texts = assert(tl:define("app", "info", "$a:str $b:u16[] $c:i64[] $d:char $e:str"))
texts("größe\0", { 1, 65535 }, { -1, 2LL ^ 62 }, "é", ("x"):rep(3000))
local event = at:events("newest")()
collectgarbage()
args = event.args
assert(args.n == 5 and args[1] == "größe\0" and args[4] == 0xe9 and #args[5] > 100 and args[5]:find "^x+$")
assert(#args[2] == 2 and args[2][1] == 1 and args[2][2] == 65535)
assert(#args[3] == 2 and args[3][1] == -1 and args[3][2] == 2LL ^ 62)
assert(event.cut[5] and not event.cut[1])

-- Events and cursors hold what they need.
local cursor = assert(timeline.attach(snapshot)):events("oldest")
local kept = {}
collectgarbage()
for event in cursor do kept[#kept + 1] = event end
cursor = nil
collectgarbage()
collectgarbage()
assert(kept[1].category == "net" and tostring(kept[11]) == "done")
