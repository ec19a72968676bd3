-- Which values C takes as integers, and the functions that log events of integers alone.

local ffi = require "ffi"
local C = require "timeline.library"
local shown = require("timeline.check").shown
local type = type

-- Looked up once, because the interpreter takes long for it.
local timeline_log = C.timeline_log

local SIGNED, UNSIGNED = ffi.typeof "int64_t", ffi.typeof "uint64_t"
local COMPLEX, COMPLEX_FLOAT = ffi.typeof "complex", ffi.typeof "complex float"

-- Found without a look into a table: the code of a loop has at most 500 constants.
local istype, typeof = ffi.istype, ffi.typeof

-- Whether a value of FFI is a type, such as ffi.typeof "int": its number would pass for an integer, and ffi.istype
-- takes it for a value of that type. To be compiled, it looks at the text only if a value equals the number of its
-- type.
local function is_type(value)
   return typeof(value) == value and tostring(value):find("^ctype<") ~= nil
end

-- Whether C accepts it as an integer, although it is not a number to Lua.
local function is_integer(value)
   local kind = type(value)
   if kind == "boolean" then return true elseif kind ~= "cdata" then return false end
   if istype(SIGNED, value) or istype(UNSIGNED, value) then return not is_type(value) end
   return not (istype(COMPLEX, value) or istype(COMPLEX_FLOAT, value)) and pcall(SIGNED, value)
      and not is_type(value)
end

-- Raises the error about the number of arguments.
local function refused_count(names, given, level)
   error(("timeline: expected %d %s%s, got %s"):format(#names, #names == 1 and "argument" or "arguments",
      names[1] and (" (%s)"):format(table.concat(names, ", ")) or "", given), level or 4)
end

-- Raises the error that names the wrong argument, or the wrong number of them.
local function refused(names, values, more)
   local given = 0
   for index = 1, #names do
      if type(values[index]) ~= "nil" then given = index end
   end
   if type(more) ~= "nil" or given < #names then
      refused_count(names, type(more) ~= "nil" and "more" or given, 5)
   end
   for index, name in ipairs(names) do
      local value = values[index]
      if type(value) ~= "number" and not is_integer(value) then
         error(("timeline: expected an integer as %s, got %s"):format(name, shown(value)), 4)
      end
   end
end

-- Raises an error if an argument of a function that logs is wrong, at the line that called it.
local function check(names, a, b, c, d, more)
   if more ~= nil or not ((type(a) == "number" or is_integer(a)) and (type(b) == "number" or is_integer(b))
      and (type(c) == "number" or is_integer(c)) and (type(d) == "number" or is_integer(d))) then
      refused(names, { a, b, c, d }, more)
   end
end

-- The functions that define() returns, by number of arguments. In compiled code the types of the
-- arguments are known, so the checks cost nothing. These functions call C rather than read the
-- enable table themselves, because LuaJIT may hoist a plain load out of a loop, which would then
-- never see the level change.
local loggers = {
   [0] = function(writer, event, names)
      return function(more)
         if more ~= nil then check(names, 0, 0, 0, 0, more) end
         local tl = writer[0]
         if tl ~= nil then timeline_log(tl, event, 0, 0, 0, 0) end
      end
   end,
   function(writer, event, names)
      return function(a, more)
         if type(a) ~= "number" or more ~= nil then check(names, a, 0, 0, 0, more) end
         local tl = writer[0]
         if tl ~= nil then timeline_log(tl, event, a, 0, 0, 0) end
      end
   end,
   function(writer, event, names)
      return function(a, b, more)
         if type(a) ~= "number" or type(b) ~= "number" or more ~= nil then check(names, a, b, 0, 0, more) end
         local tl = writer[0]
         if tl ~= nil then timeline_log(tl, event, a, b, 0, 0) end
      end
   end,
   function(writer, event, names)
      return function(a, b, c, more)
         if type(a) ~= "number" or type(b) ~= "number" or type(c) ~= "number" or more ~= nil then
            check(names, a, b, c, 0, more)
         end
         local tl = writer[0]
         if tl ~= nil then timeline_log(tl, event, a, b, c, 0) end
      end
   end,
   function(writer, event, names)
      return function(a, b, c, d, more)
         if type(a) ~= "number" or type(b) ~= "number" or type(c) ~= "number" or type(d) ~= "number"
            or more ~= nil then
            check(names, a, b, c, d, more)
         end
         local tl = writer[0]
         if tl ~= nil then timeline_log(tl, event, a, b, c, d) end
      end
   end,
}

return { is_integer = is_integer, refused_count = refused_count, loggers = loggers }
