-- Prints the values of each event, the oldest first: an event a line. values.lua NAME
local ffi = require "ffi"
local timeline = require "timeline"

local bits = ffi.new "union { double number; uint32_t half[2]; }"
local function fraction(number)
   if number ~= number then return "nan" end
   bits.number = number
   return ("%08x%08x"):format(bits.half[1], bits.half[0])
end

local function integer(number)
   if type(number) == "cdata" then return (tostring(number):gsub("U?LL$", "")) end
   return ("%.0f"):format(number)
end

local function value(kind, value)
   local number = kind:find "^f%d" and fraction or integer
   if value == nil then return "null" end
   if type(value) == "boolean" then return tostring(value) end
   if type(value) == "string" then
      return "<" .. value:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end) .. ">"
   end
   if type(value) ~= "table" then return number(value) end
   local elements = {}
   for index, element in ipairs(value) do elements[index] = number(element) end
   return "[" .. table.concat(elements, ",") .. "]"
end

-- Kept until all are read: each has its own values.
local events = {}
for event in assert(timeline.attach(arg[1])):events() do events[#events + 1] = event end
collectgarbage()
for _, event in ipairs(events) do
   local line, kinds = {}, {}
   local first = event.message:match "^[^\n]*"
   for kind in first:gmatch "%$[%w_]+(:?[%w]*)" do kinds[#kinds + 1] = kind:sub(2) end
   assert(event.args.n == #kinds, event.message)
   for index = 1, event.args.n do
      line[index] = " " .. value(kinds[index], event.args[index]) .. (event.cut[index] and "+" or "")
   end
   print(table.concat(line))
end
