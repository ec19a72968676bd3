-- Turns a value into the word of an entry, by the type of its field.

local ffi = require "ffi"
local C = require "timeline.library"
local shown = require("timeline.check").shown
local is_integer = require("timeline.integer").is_integer
local type = type

local SIGNED, UNSIGNED = ffi.typeof "int64_t", ffi.typeof "uint64_t"

local Word = ffi.typeof "union { double f64; float f32[2]; int64_t bits; }"

-- Each makes a function that turns a number into the word of an entry. Each field has its own, for a hook or a callback
-- of the profiler may log with another function in between.
local function f64_word()
   local word = Word()
   return function(value)
      word.f64 = value
      return word.bits
   end
end

local function f32_word()
   local word = Word()
   return function(value)
      word.f32[0] = value
      return word.bits
   end
end

-- A number as messages have it, in base 10, or in base 16 behind 0x: an int64_t if a number of Lua would not be exact.
local function exact(text)
   local rounded = tonumber(text)
   if rounded and math.abs(rounded) < 2 ^ 53 then return rounded end
   local number, base = 0ULL, text:find "^0x" and 16 or 10
   for digit in text:gsub("^0x", ""):gmatch "%x" do number = number * base + tonumber(digit, 16) end
   return SIGNED(text:find "^-" and -number or number)
end

-- The number behind each name of an enum or of flags: "red=1,green=2".
local function numbers_of(labels)
   local numbers = {}
   for name, number in labels:gmatch "([^=,]+)=([^,]+)" do
      numbers[name:match "^%s*(.-)%s*$"] = exact(number:match "^%s*(.-)%s*$")
   end
   return numbers
end

-- Raises an error at the line that called the logger, which called what calls this.
local function refuse_value(wanted, field, value)
   error(("timeline: expected %s as %s, got %s"):format(wanted, field.name, shown(value)), field.level or 4)
end

-- No function that a logger calls ends in a tail call: LuaJIT gives up a loop with more than fifteen of them, for good.

-- The number of an integer of C, or 1 or 0. LuaJIT itself makes 0 of an uint64_t in a float now and then.
local function as_number(value)
   local number = value == true and 1 or value == false and 0 or tonumber(value)
   return number
end

local function float_of(field, store)
   return function(value)
      local number = value
      if type(value) ~= "number" then
         if not is_integer(value) then refuse_value("a number", field, value) end
         number = as_number(value)
      end
      local stored = store(number)
      return stored
   end
end

local function bool_of(field)
   return function(value)
      if value == true then return 1 elseif value == false then return 0 end
      if type(value) ~= "number" and not is_integer(value) then refuse_value("true or false", field, value) end
      return value ~= 0 and 1 or 0
   end
end

-- The code point of the first character, or its byte where that is not UTF-8.
local function code_point(text)
   local first, rest = text:byte(1, 1), 0
   if first >= 0xf0 then rest = 3 elseif first >= 0xe0 then rest = 2 elseif first >= 0xc2 then rest = 1 end
   if rest == 0 or #text ~= rest + 1 or first > 0xf4 then return first < 0x80 and first or first - 256, 1 end
   local point = first % 2 ^ (6 - rest)
   for at = 2, rest + 1 do
      local byte = text:byte(at)
      if byte < 0x80 or byte > 0xbf then return first - 256, 1 end
      point = point * 64 + byte % 64
   end
   return point, rest + 1
end

local function char_of(field)
   return function(value)
      if type(value) == "string" and value ~= "" then
         local point, length = code_point(value)
         if length == #value then return point end
      elseif type(value) == "number" or is_integer(value) then
         return value
      end
      refuse_value("one character or its number", field, value)
   end
end

local function enum_of(field)
   local numbers = numbers_of(field.labels)
   return function(value)
      local number = numbers[value]
      if number then return number end
      if type(value) ~= "number" and not is_integer(value) then
         refuse_value("one of " .. field.labels .. ", or a number", field, value)
      end
      return value
   end
end

-- By the number of a type of C, which stays the same: whether it is a pointer.
local POINTERS = {}
local ANY_POINTER = ffi.typeof "void *"

-- Whether a value is a pointer. To ask for its type allocates where LuaJIT compiles this function alone. So the two
-- types that came last are remembered.
local function address_check()
   local one, other = ANY_POINTER, ANY_POINTER
   return function(value)
      if ffi.istype(one, value) or ffi.istype(other, value) then return true end
      local kind = ffi.typeof(value)
      local number = tonumber(kind)
      local known = POINTERS[number]
      if known == nil then
         known = ffi.sizeof(value) == 8 and tostring(kind):find "%*[%a_ ]*[>)&]" ~= nil
         POINTERS[number] = known
      end
      if known then one, other = kind, one end
      return known
   end
end

local function pointer_of(field)
   local is_address = address_check()
   return function(value)
      if type(value) == "number" then return value end
      -- A type, such as that of a pointer, has a number, and a pointer has none.
      if type(value) == "cdata" and not tonumber(value) and is_address(value) then
         -- As a number: where LuaJIT compiles this function alone, it would allocate the uint64_t that it returns.
         local address = ffi.cast(UNSIGNED, value)
         local number = tonumber(address)
         return number < 2 ^ 53 and number or address
      end
      if not is_integer(value) then refuse_value("a pointer or an integer", field, value) end
      return value
   end
end

local function integer_of(field)
   return function(value)
      if type(value) ~= "number" and not is_integer(value) then refuse_value("an integer", field, value) end
      return value
   end
end

-- C makes an int64_t of a number, in which one from 2^63 on has no room, but the negative one with the same bits has.
local function natural_of(of)
   return function(field)
      -- One call deeper: an error names the line that called the logger.
      local convert = of({ name = field.name, labels = field.labels, level = 5 })
      return function(value)
         if type(value) ~= "number" then
            local converted = convert(value)
            return converted
         end
         if value >= 2 ^ 63 and value < 2 ^ 64 then return value - 2 ^ 64 end
         return value
      end
   end
end

-- By type: what converts the values of it that are not numbers.
local NATURALS = {
   [C.TIMELINE_FLAGS] = enum_of, [C.TIMELINE_PTR] = pointer_of, [C.TIMELINE_U64] = integer_of,
   [C.TIMELINE_HEX] = integer_of, [C.TIMELINE_BYTES] = integer_of,
}

-- By type: makes the function that turns a value into the word of an entry.
local CONVERTERS = {
   [C.TIMELINE_F64] = function(field) return float_of(field, f64_word()) end,
   [C.TIMELINE_F32] = function(field) return float_of(field, f32_word()) end,
   [C.TIMELINE_BOOL] = bool_of,
   [C.TIMELINE_CHAR] = char_of,
   [C.TIMELINE_ENUM] = enum_of,
}
for kind, of in pairs(NATURALS) do CONVERTERS[kind] = natural_of(of) end

return {
   NATURALS = NATURALS, CONVERTERS = CONVERTERS, integer_of = integer_of, float_of = float_of,
   as_number = as_number, refuse_value = refuse_value,
}
