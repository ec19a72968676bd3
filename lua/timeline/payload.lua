-- The functions that log events with texts, arrays or more than four fields.

local ffi = require "ffi"
local C = require "timeline.library"
local integer = require "timeline.integer"
local convert = require "timeline.convert"
local array_of = require("timeline.array").array_of
local is_integer, refused_count = integer.is_integer, integer.refused_count
local NATURALS, CONVERTERS, integer_of = convert.NATURALS, convert.CONVERTERS, convert.integer_of
local float_of, as_number, refuse_value = convert.float_of, convert.as_number, convert.refuse_value
local timeline_log = C.timeline_log
local type = type

local function check_text(field)
   return function(value)
      if type(value) ~= "string" then refuse_value("a string", field, value) end
   end
end

local function same(value) return value end

-- The function that logs an event with texts, arrays or more than four fields. The words of the fields are
-- stored in an image of the payload, C copies texts and arrays behind them, and one more call logs it. Its
-- code is made for these fields, so that LuaJIT compiles it without loops and without tables of arguments. From
-- the first word on nothing is allocated: the collector may call a finalizer, which may log with this function.
-- So the timeline is read again for the last call: kept over the stores, the pointer would be allocated wherever
-- one trace of LuaJIT ends and the next one begins.
local function payload_logger(writer, event, fields)
   local count, names, check, elements = #fields, {}, {}, {}
   local parameters, given, checks, stores = {}, {}, {}, {}
   local words = ffi.new "int64_t[191]"
   local doubles, floats = ffi.cast("double *", words), ffi.cast("float *", words)
   local types, marked, has_data = ffi.new("uint8_t[?]", count + 1), 0ULL, false
   for index, field in ipairs(fields) do
      local kept
      names[index], parameters[index] = field.name, "v" .. index
      -- NULL is equal to nil, and an address.
      given[index] = (field.type == C.TIMELINE_PTR and 'type(v%d) == "nil"' or "v%d == nil"):format(index)
      types[index - 1] = field.type
      if field.type >= C.TIMELINE_ARRAY_OF then
         check[index], elements[index], kept = array_of(field)
         stores[index] = ("from, size = elements%d(v%d) at = put_array(words, %d, at, most, from, size, %d)"):format(
            index, index, index - 1, kept)
      elseif field.type >= C.TIMELINE_STR then
         check[index] = check_text(field)
         if field.type == C.TIMELINE_ISTR then marked = marked + 2ULL ^ (index - 1) end
         stores[index] = ("at = put_text(words, %d, at, most, v%d, #v%d)"):format(index - 1, index, index)
      elseif field.type == C.TIMELINE_F64 then
         check[index] = float_of(field, same)
         stores[index] = ("doubles[%d] = w%d"):format(index - 1, index)
      elseif field.type == C.TIMELINE_F32 then
         -- The other half of the word stays zero.
         check[index] = float_of(field, same)
         stores[index] = ("floats[%d] = w%d"):format(2 * index - 2, index)
      else
         check[index] = (CONVERTERS[field.type] or integer_of)(field)
         stores[index] = ("words[%d] = w%d"):format(index - 1, index)
      end
      local word = field.type < C.TIMELINE_STR and ("local w%d = "):format(index) or ""
      has_data = has_data or word == ""
      checks[index] = ("%scheck%d(v%d)"):format(word, index, index)
      -- The less is called, the shorter the trace: a number is stored as it is, or as natural_of does it, and an
      -- integer of C is known by a function that all fields share.
      local is_float = field.type == C.TIMELINE_F64 or field.type == C.TIMELINE_F32
      local natural = NATURALS[field.type]
      local inline
      if natural then check[index] = natural(field) end
      if natural == integer_of or word ~= "" and not CONVERTERS[field.type] then
         inline = 'if type(vN) ~= "number" then if not is_integer(vN) then checkN(vN) end'
      elseif is_float then
         inline = 'if type(vN) ~= "number" then if is_integer(vN) then wN = as_number(vN) else checkN(vN) end'
      elseif natural then
         inline = 'if type(vN) ~= "number" then wN = checkN(vN)'
      end
      if inline then
         if natural then inline = inline .. " elseif vN >= 2^63 and vN < 2^64 then wN = vN - 2^64" end
         checks[index] = ("local wN = vN " .. inline .. " end"):gsub("N", index)
      end
   end
   local function refuse_count(...)
      local given = select("#", ...)
      while given > 0 and type((select(given, ...))) == "nil" do given = given - 1 end
      if given ~= count then refused_count(names, given > count and "more" or given) end
   end
   -- A function has at most sixty values from outside, so those of many fields are in tables.
   local outside = {}
   for index = 1, count do
      if count <= 20 then
         outside[#outside + 1] = ("local checkN, elementsN = check[N], elements[N]"):gsub("N", index)
      else
         checks[index] = checks[index]:gsub("check%d+", ("check[%d]"):format(index))
         stores[index] = stores[index]:gsub("elements%d+%(", ("elements[%d]("):format(index))
      end
   end
   local log, last = C.timeline_log_payload, "0"
   if marked ~= 0 then log, last = C.timeline_log_interned, "types, marked" end
   local source = ([[
      local writer, event, check, elements, refuse_count, is_integer, as_number, words, doubles, floats, log, put_text,
         put_array, types, marked, most, nothing = ...
      local type = type
      %s
      return function(%s, more)
         if more ~= nil or %s then refuse_count(%s, more) end
         %s
         do
            local tl = writer[0]
            if tl == nil then return end
            %s
         end
         local at, from, size = %d
         %s
         log(writer[0], event, words, at, %s)
      end]]):format(table.concat(outside, "\n"), table.concat(parameters, ", "),
      table.concat(given, " or "), table.concat(parameters, ", "), table.concat(checks, "\n"),
      -- Without a call, LuaJIT would take the load out of a loop, which would never see the level change. Event 0
      -- is not logged.
      has_data and "if tl.enabled[event] == 0 then nothing(tl, 0, 0, 0, 0, 0) return end" or "", count,
      table.concat(stores, "\n"), last)
   return assert(loadstring(source, "=timeline"))(writer, event, check, elements, refuse_count, is_integer, as_number,
      words, doubles, floats, log, C.timeline_put_text, C.timeline_put_array, types, marked, writer[0].payload / 8,
      timeline_log)
end

return payload_logger
