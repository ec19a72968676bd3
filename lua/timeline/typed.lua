-- The functions that log events of up to four values, of which one is converted.

local C = require "timeline.library"
local refused_count = require("timeline.integer").refused_count
local convert = require "timeline.convert"
local CONVERTERS, integer_of = convert.CONVERTERS, convert.integer_of
local timeline_log = C.timeline_log
local type = type

local function zero() return 0 end

-- The function that logs an event of which a field is converted.
local function typed_logger(writer, event, fields)
   local names, to = {}, {}
   for index, field in ipairs(fields) do
      names[index], to[index] = field.name, (CONVERTERS[field.type] or integer_of)(field)
   end
   local count = #fields
   local to_a, to_b, to_c, to_d = to[1] or zero, to[2] or zero, to[3] or zero, to[4] or zero
   -- A value more than there are fields is an error, as is one that is missing. A pointer that is NULL is equal to nil,
   -- but given.
   local function check_count(a, b, c, d, more)
      local given = type(d) ~= "nil" and 4 or type(c) ~= "nil" and 3 or type(b) ~= "nil" and 2
         or type(a) ~= "nil" and 1 or 0
      if given > count or type(more) ~= "nil" then refused_count(names, "more") end
      if given < count then refused_count(names, given) end
   end
   return function(a, b, c, d, more)
      if more ~= nil or (count < 4 and d ~= nil) or (count < 3 and c ~= nil) or (count < 2 and b ~= nil)
         or (count > 3 and d == nil) or (count > 2 and c == nil) or (count > 1 and b == nil) or a == nil then
         check_count(a, b, c, d, more)
      end
      local wa, wb, wc, wd = to_a(a), to_b(b), to_c(c), to_d(d)
      local tl = writer[0]
      if tl ~= nil then timeline_log(tl, event, wa, wb, wc, wd) end
   end
end

return typed_logger
