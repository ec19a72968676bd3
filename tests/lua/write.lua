-- Every way to write a timeline, and what each returns.
local timeline = require "timeline"
local name = arg[1]

local tl = assert(timeline.new(name, 1024, 65536))
assert(tostring(tl) == "timeline " .. name)
assert(timeline.level(tl) == "all")

-- As functions and as methods, with no to four arguments.
local none = assert(timeline.define(tl, "test", "error", "nothing"))
local one = assert(tl:define("test", "warning", "one $a"))
local two = assert(tl:define("test", "info", "two $a $b"))
local three = assert(tl:define("test", "trace", "three $a $b $c"))
local four = assert(tl:define("test", "packet", "four $a $b $c $d\nsecond line with a $word"))
none()
one(-1)
two(2 ^ 40, 3.99)
three(2LL ^ 62, 0xffffffffffffffffULL, -2LL ^ 63)
four(1, 2, 3, 4)
one(true)

-- Types say how a value is stored and shown.
local numbers = tl:define("test", "info", "$a:f64 $b:f32 $c:u8 $d:bytes")
numbers(0.25, -1.5, 300, 2 ^ 20)
numbers(7, 2LL, -1, 5)
local names = tl:define("test", "info", "$a:bool $b:char $c:enum(red=1,green=2) $d:flags(r=1,w=2)")
names(true, "é", "green", 3)
names(false, 0x61, 7, "w")
names(0, "\xff", 1, 0)
local times = tl:define("test", "info", "$a:ns $b:time $c:hex $d:i32\n$not:this")
times(12500, 1763661210000000007LL, 31, -5)
local far = tl:define("test", "info", "$a:enum(most=9223372036854775807,least=-9223372036854775808) $b:flags(top=0x8000000000000000)")
far("most", "top")
far("least", 0)
local function refused(message, ...)
   local _, why = pcall(...)
   assert(tostring(why):find(message, 1, true), tostring(why))
end
refused("expected a number as $a, got \"x\"", numbers, "x", 0, 0, 0)
refused("expected 4 arguments ($a, $b, $c, $d), got 3", numbers, 1, 2, 3)
refused("expected 4 arguments ($a, $b, $c, $d), got more", numbers, 1, 2, 3, 4, 5)
refused("expected an integer as $c, got \"1\"", numbers, 1, 2, "1", 4)
refused("expected true or false as $a, got \"no\"", names, "no", "a", 1, 1)
refused("expected one character or its number as $b, got \"ab\"", names, true, "ab", 1, 1)
refused("expected one character or its number as $b", names, true, "\xc3a", 1, 1)
refused("expected one of red=1,green=2, or a number as $c, got \"blue\"", names, true, "a", "blue", 1)
refused('there is no type "int" for the argument $x', timeline.define, tl, "test", "info", "$x:int")
local line = debug.getinfo(1, "l").currentline + 1
local _, where = pcall(function() numbers("x", 0, 0, 0) end)
assert(where:find("write.lua:" .. line .. ":", 1, true), where)

local seen = {}
for event in assert(timeline.attach(tl)):events("oldest") do
   seen[#seen + 1] = tostring(event)
end
local expected = {
   "nothing", "one a(-1)", "two a(1099511627776) b(3)",
   "three a(4611686018427387904) b(-1) c(-9223372036854775808)",
   "four a(1) b(2) c(3) d(4)", "one a(1)",
   "a(0.25) b(-1.5) c(44) d(1 MiB)", "a(7.0) b(2.0) c(255) d(5 B)",
   "a(true) b(é) c(green) d(r|w)", "a(false) b(a) c(7) d(w)", "a(false) b(\\xff) c(red) d(0)",
   "a(12.5µs) b(2025-11-20T17:53:30.000000007Z) c(0x1f) d(-5)",
   "a(most) b(top)", "a(least) b(0)",
}
for index = 1, math.max(#expected, #seen) do
   assert(seen[index] == expected[index], ("%d: expected %s, got %s"):format(index, expected[index], seen[index]))
end

-- The level decides, at once, and says what it is.
for _, level in ipairs { "none", "error", "warning", "info", "trace", "app", "packet", "library", "all" } do
   assert(timeline.priority(tl, level) == true)
   assert(tl:level() == level)
end
-- Rules speak of categories and of events by their names.
assert(timeline.priority(tl, "none,test=warning,+test.two") == true)
assert(tl:level() == "none")
assert(tl:priority("all"))
local function count()
   local total = 0
   for _ in assert(timeline.attach(name)):events() do total = total + 1 end
   return total
end
local before = count()
assert(tl:priority("info"))
three(1, 2, 3)
assert(count() == before)
two(1, 2)
assert(count() == before + 1)
assert(tl:priority("-test.two,+test.three"))
two(1, 2)
three(1, 2, 3)
assert(count() == before + 2)
assert(tl:priority("info"))

-- Channels: all of an event's must be on.
local news = tl:define("test", "info", "news $n", { channels = "itv|bbc" })
assert(tl:channel("itv", true) and tl:option("-v") == false)
before = count()
news(1)
assert(count() == before and tl:option("-trace=bbc") == true)
news(2)
assert(count() == before + 1 and tl:channel("bbc", false))

-- A catalogue defines events by their names.
local path = os.tmpname()
local file = assert(io.open(path, "w"))
file:write("[engine]\ninfo|got packet $len\nIt came.\n\ntrace itv=on|ratio $r:f64\n\ninfo important|kept $n\n")
file:close()
local events = assert(timeline.load(tl, path))
before = count()
events["engine.got_packet"](1500)
events["engine.ratio"](0.5)
assert(count() == before + 1)
events["engine.kept"](7)
for event in assert(timeline.attach(name)):events() do
   if event.message == "kept $n" then before = event end
end
assert(tostring(before) == "kept n(7)" and before.important)
os.remove(path)
local none, message, kind = timeline.load(tl, path)
assert(none == nil and message:find(path, 1, true) and kind == "io")

-- Threads have names of the program, or of the system.
local function newest()
   for event in assert(timeline.attach(name)):events("newest") do
      if not event.important then return event end
   end
end
assert(timeline.thread(tl, "worker 3", "workers") == true)
two(3, 4)
assert(newest().thread == "worker 3" and newest().group == "workers")
assert(tl:thread("worker 4"))
assert(newest().thread == "worker 4" and newest().group == nil)
assert(tl:thread(nil, "workers"))
assert(newest().thread == "luajit" and newest().group == "workers")
assert(tl:thread())
assert(newest().thread == "luajit" and newest().group == nil)
refused("expected a string without NUL, or nil for the system's name as name, got 5", timeline.thread, tl, 5)
assert(tl:priority("info"))

-- A second writer joins; the same definition is the same event.
local other = assert(timeline.open_or_create(name, { trust_user = 1 }))
assert(other:level() == "info")
assert(other:define("test", "info", "two $a $b"))(5, 6)
assert(tostring(newest()) == "two a(5) b(6)")

-- Important events stay when the ring is overwritten, come first, and are counted without room.
local small = assert(timeline.new(name .. "-kept", { entries = 256, stringtablesize = 4096, important_entries = 2 }))
local kept = assert(small:define("test", "info", "interface $id", { important = true }))
local plain = assert(small:define("test", "info", "interface $id"))
for id = 1, 3 do kept(id) end
for id = 1, 1000 do plain(id) end
assert(small:dropped_important() == 1)
for _, order in ipairs { "oldest", "newest" } do
   local place = 0
   for event in assert(timeline.attach(small)):events(order) do
      place = place + 1
      assert(event.important == (place <= 2))
      if place <= 2 then assert(event.args[1] == (order == "oldest" and place or 3 - place)) end
   end
   assert(place > 2)
end
refused("expected channels or important as attribute, got \"urgent\"", timeline.define, tl, "test", "info", "x", { urgent = true })
refused("expected true, false or nil as important, got 1", timeline.define, tl, "test", "info", "x", { important = 1 })
refused("expected a table or nil as attributes, got true", timeline.define, tl, "test", "info", "x", true)
assert(timeline.unlink(name .. "-kept"))

-- Names go, handles stay.
assert(timeline.unlink(name) == true)
two(1, 2)
