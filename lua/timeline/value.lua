-- The values of an event that was read, as Lua has them.

local ffi = require "ffi"
local band = require("bit").band
local C = require "timeline.library"
local ELEMENTS = require("timeline.array").ELEMENTS
local OK = C.TIMELINE_OK

-- From 2^53 on, a Lua number cannot hold every integer, so a cdata does.
local EXACT, EXACT_NATURAL = 2LL ^ 53, 2ULL ^ 53

local function signed(value)
   if value > -EXACT and value < EXACT then return tonumber(value) end
   return value
end

local function unsigned(value)
   if value < EXACT_NATURAL then return tonumber(value) end
   return value
end

-- LuaJIT keeps the types of its values in bits that a NaN leaves free, and does not look at the bits of a number that
-- it reads from memory. So a NaN is recognised by its bits. It would be a value of any type.
local function is_nan64(words, index)
   local high = words[2 * index + 1]
   return band(high, 0x7ff00000) == 0x7ff00000 and (band(high, 0xfffff) ~= 0 or words[2 * index] ~= 0)
end

local function is_nan32(words, index)
   local word = words[index]
   return band(word, 0x7f800000) == 0x7f800000 and band(word, 0x7fffff) ~= 0
end

-- By the type of the elements. Compiled code makes no types.
local FIRST = {}
for kind, element in pairs(ELEMENTS) do FIRST[kind] = ffi.typeof("const $ *", ffi.typeof(element)) end

local function elements_of(raw)
   local kind = raw.type - C.TIMELINE_ARRAY_OF
   local first, elements = ffi.cast(FIRST[kind], raw.data), {}
   local exact = kind == C.TIMELINE_U64 and unsigned or kind == C.TIMELINE_I64 and signed
   local is_nan = kind == C.TIMELINE_F64 and is_nan64 or kind == C.TIMELINE_F32 and is_nan32
   local words = ffi.cast("const uint32_t *", raw.data)
   for index = 0, raw.count - 1 do
      if is_nan and is_nan(words, index) then elements[index + 1] = 0 / 0
      elseif exact then elements[index + 1] = exact(first[index])
      else elements[index + 1] = first[index] end
   end
   return elements
end

-- By kind: the value as Lua has it.
local READ = {
   [C.TIMELINE_IS_NULL] = function() return nil end,
   [C.TIMELINE_IS_SIGNED] = function(raw)
      if raw.type == C.TIMELINE_BOOL then return raw.integer ~= 0 end
      return signed(raw.integer)
   end,
   [C.TIMELINE_IS_UNSIGNED] = function(raw) return unsigned(raw.natural) end,
   [C.TIMELINE_IS_FLOAT] = function(raw) return raw.number end,
   [C.TIMELINE_IS_LONG_DOUBLE] = function(raw) return raw.number end,
   [C.TIMELINE_IS_TEXT] = function(raw) return ffi.string(raw.data, raw.count) end,
   [C.TIMELINE_IS_ARRAY] = elements_of,
}

-- LuaJIT compiles no allocation of more than 128 bytes, nor of a size that it learns only then. So what C fills is
-- kept, and taken by who uses it until it is given back. Whoever finds it taken makes its own: a finalizer, which may
-- run at any allocation and read another event, or the next one after an error.
local Values = ffi.typeof "timeline_event_value_t[?]"
local kept_values, kept_room = nil, 0

local function more_values(raw, status, counted)
   repeat
      if status ~= OK then error(ffi.string(C.timeline_last_error()), 3) end
      local room = counted[0]
      local values = Values(room)
      status = C.timeline_values(raw, values, room, counted)
      if status == OK and counted[0] <= room then return values, counted[0], room end
   until false
end

-- The values of an event, how many there are, and how many have room. They are to be given back. What a loop over
-- events calls has no loop of its own where there are few values, so that the loop over events becomes one of machine
-- code.
local function values_of(raw)
   local values, room = kept_values, kept_room
   kept_values = nil
   if not values then values, room = Values(8), 8 end
   local counted = ffi.new "uint32_t[1]"
   local status = C.timeline_values(raw, values, room, counted)
   if status == OK and counted[0] <= room then return values, counted[0], room end
   return more_values(raw, status, counted)
end

local function give_back(values, room)
   kept_values, kept_room = values, room
end

local function value_at(values, place)
   local raw = values[place]
   -- No tail call: of those, a trace has few.
   local value = READ[raw.kind](raw)
   return value
end

local function read_many(args, values, count)
   for place = 8, count - 1 do args[place + 1] = value_at(values, place) end
end

local function read_rest(args, values, count)
   args[5] = value_at(values, 4)
   if count > 5 then args[6] = value_at(values, 5) end
   if count > 6 then args[7] = value_at(values, 6) end
   if count > 7 then args[8] = value_at(values, 7) end
   if count > 8 then read_many(args, values, count) end
end

-- The values, with their number in n: one that was NULL is nil.
local function args_of(raw)
   local values, count, room = values_of(raw)
   local args = { n = count }
   if count > 0 then args[1] = value_at(values, 0) end
   if count > 1 then args[2] = value_at(values, 1) end
   if count > 2 then args[3] = value_at(values, 2) end
   if count > 3 then args[4] = value_at(values, 3) end
   if count > 4 then read_rest(args, values, count) end
   give_back(values, room)
   return args
end

-- By number: true for a text or an array that was cut, because there was no room for all of it.
local function cut_of(raw)
   local values, count, room = values_of(raw)
   local cut = {}
   for index = 1, count do cut[index] = values[index - 1].cut or nil end
   give_back(values, room)
   return cut
end

return { args_of = args_of, cut_of = cut_of, value_at = value_at }
