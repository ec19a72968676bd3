-- Nothing else logs while a payload is put together: tables are read as they are, and the collector, which may call
-- a finalizer that logs, has no reason to run. What a hook logs in between is not mixed with it.
local ffi = require "ffi"
local timeline = require "timeline"
local name = arg[1]

local tl = assert(timeline.new(name, 65536))
local log = assert(tl:define("test", "info", "$n $list:u8[] $x:f64 $text:str and $raw:u16[] $last"))
local raw = ffi.new("uint16_t[3]", { 7, 8, 9 })

-- Metamethods are not called.
local function meddle()
   log(-1, { 9, 9 }, 9.5, "from a metamethod", raw, 0)
   return 7
end
local meddling = setmetatable({ 1, 2, 3 }, { __index = meddle, __len = meddle })
log(1, meddling, 0.5, "a text", raw, 2)
local with_a_hole = setmetatable({ 1, 2, 3, 4, 5, 6, 7, 8 }, { __index = meddle })
with_a_hole[2] = nil
assert(#with_a_hole == 8)
local is_logged, why = pcall(log, 2, with_a_hole, 0.5, "a hole", raw, 3)
assert(not is_logged and why:find("a number in $list[2] as $list, got nil", 1, true), "it is logged")

-- Finalizers are called often, but not in between.
local finalized = 0
local function finalize()
   finalized = finalized + 1
   log(-2, { 5 }, -0.5, "of a finalizer", raw, -3)
end
collectgarbage("setpause", 1)
collectgarbage("setstepmul", 1000000)
local function litter(count)
   for i = 1, count do
      ffi.gc(ffi.new "int[1]", finalize)
      log(i, meddling, i * 0.5, "a text", raw, i + 1)
   end
end
for _, mode in ipairs { "off", "on" } do
   jit[mode]()
   litter(2000)
end
collectgarbage()
assert(finalized > 1000, finalized)

local seen, expected = 0, "n(%d) list([1, 2, 3]) x(%s) text(a text) and raw([7, 8, 9]) last(%d)"
local of_finalizer = "n(-2) list([5]) x(-0.5) text(of a finalizer) and raw([7, 8, 9]) last(-3)"
for event in assert(timeline.attach(tl)):events("oldest") do
   local text = tostring(event)
   local n = tonumber(text:match "^n%((%d+)%)")
   if n then
      seen = seen + 1
      local half = ("%.1f"):format(n / 2)
      assert(text == expected:format(n, half, n + 1), text)
   else
      assert(text == of_finalizer, text)
   end
end
assert(seen == 4001, seen)

-- A hook that logs with a function of its own, after each instruction, changes no event that it interrupts.
collectgarbage("setpause", 200)
collectgarbage("setstepmul", 200)
jit.off()
for _, message in ipairs { "of hook $a:f64 $b:f32 $n", "of hook $a:f64 $b:f32 $n $list:u8[] $text:str" } do
   local program, hook = assert(tl:define("test", "info", message)), assert(tl:define("test", "info", message))
   local given = message:find "text" and 5 or 3
   debug.sethook(function() hook(unpack({ -7.5, -8.5, 9, { 7 }, "of the hook" }, 1, given)) end, "", 1)
   for i = 1, 50 do program(unpack({ i, i * 0.5, i, { i, i }, "a text" }, 1, given)) end
   debug.sethook()
end
-- So does one that measures arrays of its own.
local arrays, hooked = assert(tl:define("test", "info", "array $a:u8[]")), assert(tl:define("test", "info", "array of hook $a:u8[]"))
debug.sethook(function() hooked(ffi.new("uint8_t[?]", 3)) end, "", 1)
for i = 1, 50 do arrays(ffi.new("uint8_t[?]", i % 8 + 1, i)) end
debug.sethook()
jit.on()
local expected_here, logged, of_hook = "of hook a%((%d+)%.0%) b%(([%d.]+)%) n%((%d+)%)", 0, 0
for event in assert(timeline.attach(tl)):events("oldest") do
   local text = tostring(event)
   if text:find "^of hook a%(%-7.5%) b%(%-8.5%) n%(9%)" then
      of_hook = of_hook + 1
      assert(not text:find "list" or text:find("list([7]) text(of the hook)", 1, true), text)
   elseif text:find "^of hook" then
      local a, b, n = text:match(expected_here)
      assert(a and a == n and tonumber(b) == a / 2, text)
      assert(not text:find "list" or text:find(("list([%d, %d]) text(a text)"):format(a, a), 1, true), text)
      logged = logged + 1
   end
end
assert(logged == 100 and of_hook > 1000, logged .. " and " .. of_hook)
timeline.unlink(name)
