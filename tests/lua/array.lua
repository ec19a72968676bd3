-- An element of an array is converted as a value of its type, in the interpreter and in compiled code. Arrays have the
-- sizes that they were made with.
local ffi = require "ffi"
local timeline = require "timeline"
local name = arg[1]

local tl = assert(timeline.new(name, 65536))
local values = {
   0, 1, -1, 1.9, -1.9, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2 ^ 31, -2 ^ 31, -2 ^ 31 - 5, 2 ^ 32 - 1, 2 ^ 32 + 7,
   -2 ^ 32 - 7, 2 ^ 53, 2 ^ 62, -2 ^ 62, -2 ^ 63, 2 ^ 63, 2 ^ 63 + 2 ^ 62, 2 ^ 64 - 2048, 0.1, -0.25,
   true, false, 5LL, -1LL, 7ULL, 0x8000000000000000ULL, 0xffffffffffffffffULL, 0x100000007LL,
   ffi.new("double", 1.5), ffi.new("int16_t", -3),
}
local TYPES = { "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64" }
local one, many = {}, {}
for _, kind in ipairs(TYPES) do
   -- The second is part of an event with a payload.
   one[kind] = { assert(tl:define("test", "info", "one $v:" .. kind)),
      assert(tl:define("test", "info", "one with text $v:" .. kind .. " $s:str")) }
   many[kind] = assert(tl:define("test", "info", "many $v:" .. kind .. "[]"))
end
local function log_all()
   for _, kind in ipairs(TYPES) do
      for _, value in ipairs(values) do one[kind][1](value) end
      for _, value in ipairs(values) do one[kind][2](value, "") end
      many[kind](values)
   end
end
jit.off()
log_all()
jit.on()
for _ = 1, 30 do log_all() end

local scalars, texts, compared = {}, {}, 0
for event in assert(timeline.attach(tl)):events("oldest") do
   if event.message:find "^one with" then
      texts[#texts + 1] = event.args[1]
   elseif event.message:find "^one" then
      scalars[#scalars + 1] = event.args[1]
   else
      local elements = event.args[1]
      assert(#elements == #values and #scalars == #values and #texts == #values)
      for index, element in ipairs(elements) do
         local said = ("%s of %s: %s, %s with a text, but %s in a table"):format(tostring(values[index]), event.message,
            tostring(scalars[index]), tostring(texts[index]), tostring(element))
         assert(element == scalars[index] and element == texts[index], said)
         compared = compared + 1
      end
      scalars, texts = {}, {}
   end
end
assert(compared == 31 * #TYPES * #values, compared)

-- An array that takes the place of one that was collected has its own size, also in the interpreter.
local sized = assert(tl:define("test", "info", "sized $n of $v:u8[] $w:u16[]"))
local addresses, reused = {}, 0
for _, mode in ipairs { "off", "on" } do
   jit[mode]()
   for i = 1, 6000 do
      local bytes, shorts = ffi.new("uint8_t[?]", 1 + i % 60, i % 256), ffi.new("uint16_t[?]", i % 31)
      local address = tonumber(ffi.cast("uintptr_t", ffi.cast("void *", bytes)))
      if addresses[address] and addresses[address] ~= i % 60 then reused = reused + 1 end
      addresses[address] = i % 60
      sized(i, bytes, shorts)
      if i % 100 == 0 then collectgarbage() end
   end
end
local total = 0
for event in assert(timeline.attach(tl)):events("oldest") do
   if event.message:find "^sized" then
      local n, bytes, shorts = unpack(event.args)
      assert(#bytes == 1 + n % 60 and #shorts == n % 31, tostring(event))
      assert(bytes[1] == n % 256, tostring(event))
      total = total + 1
   end
end
assert(total == 12000 and reused > 100, total .. " events, " .. reused .. " at an address with another size before")
timeline.unlink(name)
