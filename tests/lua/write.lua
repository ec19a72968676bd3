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

local seen = {}
for event in assert(timeline.attach(tl)):events("oldest") do
   seen[#seen + 1] = tostring(event)
end
local expected = {
   "nothing", "one a(-1)", "two a(1099511627776) b(3)",
   "three a(4611686018427387904) b(-1) c(-9223372036854775808)",
   "four a(1) b(2) c(3) d(4)", "one a(1)",
}
for index = 1, math.max(#expected, #seen) do
   assert(seen[index] == expected[index], ("%d: expected %s, got %s"):format(index, expected[index], seen[index]))
end

-- The level decides, at once, and says what it is.
for _, level in ipairs { "none", "error", "warning", "info", "trace", "app", "packet", "library", "all" } do
   assert(timeline.priority(tl, level) == true)
   assert(tl:level() == level)
end
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

-- A second writer joins; the same definition is the same event.
local other = assert(timeline.open_or_create(name, { trust_user = 1 }))
assert(other:level() == "info")
assert(other:define("test", "info", "two $a $b"))(5, 6)
for event in assert(timeline.attach(name)):events("newest") do
   assert(tostring(event) == "two a(5) b(6)")
   break
end

-- Names go, handles stay.
assert(timeline.unlink(name) == true)
two(1, 2)
