-- The elements of arrays: which values have some, how many, and how C copies them.

local ffi = require "ffi"
local C = require "timeline.library"
local is_integer = require("timeline.integer").is_integer
local convert = require "timeline.convert"
local refuse_value, as_number = convert.refuse_value, convert.as_number
local type = type

-- The elements of arrays, by type.
local ELEMENTS = {
   [C.TIMELINE_I8] = "int8_t", [C.TIMELINE_U8] = "uint8_t", [C.TIMELINE_I16] = "int16_t",
   [C.TIMELINE_U16] = "uint16_t", [C.TIMELINE_I32] = "int32_t", [C.TIMELINE_U32] = "uint32_t",
   [C.TIMELINE_I64] = "int64_t", [C.TIMELINE_U64] = "uint64_t", [C.TIMELINE_F32] = "float",
   [C.TIMELINE_F64] = "double",
}

-- The most bytes of a payload.
local MOST = 1528

-- A table as it is: a metamethod might log with the function that is under way, and so change its payload.
local rawget, length_of = rawget, rawlen or function(value) return #value end

-- The bytes of the arrays whose type does not tell it, such as ffi.new("uint8_t[?]", 1500), or false if nobody knows.
-- LuaJIT does not compile ffi.sizeof of these. The keys are weak; before the memory of an array can be that of
-- another one, its entry is gone.
local sizes, measured = setmetatable({}, { __mode = "k" }), nil
local function measure()
   local value = measured
   -- Of an array at the end of a struct, it raises an error.
   local known, size = pcall(ffi.sizeof, value)
   sizes[value] = known and size or false
end
-- It would try in vain, again and again.
jit.off(measure)

-- The bytes of such an array. LuaJIT compiles what is before and behind gsub, but not what gsub calls.
local gsub = string.gsub
local function measured_size(value)
   local size = sizes[value]
   if size == nil then
      -- A hook may measure another one in between, and leaves this one here again.
      local before = measured
      measured = value
      gsub("x", "x", measure)
      measured, size = before, sizes[value]
   end
   return size
end

-- Makes a function that says how many bytes an array of FFI with such elements has, and says false for any other value.
-- It allocates only for the first array of a size. A pointer is none: nobody knows how many elements it leads to.
local function array_size_of(elements)
   local unit, by_size = ffi.sizeof(elements[1]), {}
   local one, other = elements[1], elements[2] or elements[1]
   local open, other_open = ffi.typeof("$[?]", one), ffi.typeof("$[?]", other)
   return function(value)
      -- An array has no number, but a type has.
      if tonumber(value) then return false end
      if ffi.istype(open, value) or ffi.istype(other_open, value) then
         local size = measured_size(value)
         return size
      end
      local size = ffi.sizeof(value)
      if size == nil or size % unit ~= 0 then return false end
      local kinds = by_size[size]
      if kinds == nil then
         kinds = {}
         for index, element in ipairs(elements) do kinds[index] = ffi.typeof("$[" .. size / unit .. "]", element) end
         by_size[size] = kinds
      end
      if ffi.istype(kinds[1], value) or kinds[2] and ffi.istype(kinds[2], value) then return size end
      return false
   end
end

-- By the bytes of an element: an integer and its low bits. Made once, for LuaJIT keeps each type for good.
local WHOLE = {}
for _, unit in ipairs { 1, 2, 4 } do
   WHOLE[unit] = ffi.typeof(("union { int64_t bits; int%d_t low; }"):format(8 * unit))
end

-- The function that puts an element of a table into a copy, and the copy. It converts each as the value of a field of
-- that type is converted: to an integer of 64 bits, whose low ones it takes. What LuaJIT makes of a number that has no
-- room in a shorter or unsigned integer is not defined. Nothing here may allocate, also in the interpreter.
local function copier(element, most)
   local unit = ffi.sizeof(element)
   local is_float = element == "float" or element == "double"
   local copy = ffi.new(ffi.typeof("$[?]", ffi.typeof(is_float and element or ("int%d_t"):format(8 * unit))), most)
   if is_float then
      return function(index, value) copy[index] = type(value) == "number" and value or as_number(value) end, copy
   elseif element == "int64_t" then
      return function(index, value) copy[index] = value end, copy
   elseif element == "uint64_t" then
      return function(index, value)
         if type(value) == "number" and value >= 2 ^ 63 and value < 2 ^ 64 then value = value - 2 ^ 64 end
         copy[index] = value
      end, copy
   end
   local whole = WHOLE[unit]()
   return function(index, value)
      whole.bits = value
      copy[index] = whole.low
   end, copy
end

-- Checks an array, and finds its first element and how many it has: of a table of numbers, which is copied
-- first, or of an array of FFI, whose elements must be those of the field.
local function array_of(field)
   local element = ELEMENTS[field.type - C.TIMELINE_ARRAY_OF]
   local unit = ffi.sizeof(element)
   local most = MOST / unit
   local put, copy = copier(element, most)
   -- Bytes are often those of a `char[]`, whose elements LuaJIT takes for `int8_t` or `uint8_t`.
   local size_of = array_size_of { ffi.typeof(element), unit == 1 and ffi.typeof "char" or nil }
   local function check_array(value)
      local kind = type(value)
      if kind == "table" then
         for index = 1, length_of(value) do
            local number = rawget(value, index)
            if type(number) ~= "number" and not is_integer(number) then
               refuse_value("a number in " .. field.name .. "[" .. index .. "]", field, number)
            end
         end
      elseif kind ~= "cdata" or not size_of(value) then
         refuse_value("a table of numbers or an array of " .. element, field, value)
      end
   end
   local function elements_of(value)
      if type(value) ~= "table" then return value, size_of(value) / unit end
      local count = length_of(value)
      for index = 1, count < most and count or most do put(index - 1, rawget(value, index)) end
      return copy, count
   end
   return check_array, elements_of, unit
end

return { ELEMENTS = ELEMENTS, array_of = array_of }
