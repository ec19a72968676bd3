-- Logs a value of each type, as the table of types has them: types.lua NAME TYPE=LUA ...
local ffi = require "ffi"
local timeline = require "timeline"

local VALUES = {
   number = 1, boolean = true, string = "a", table = { 1, 2 }, cdata = ffi.cast("void *", 8),
}

local tl = assert(timeline.new(arg[1], 4096))
for index = 2, #arg do
   local kind, lua = arg[index]:match "^(.*)=(%a+)$"
   local log = timeline.define(tl, "types", "info", "logged $a:" .. kind)
   -- Of an enum, a text is one of its names.
   local value = lua == "string" and kind:match "%((%w+)=" or VALUES[lua]
   assert(type(value) == lua, arg[index])
   log(value)
   local is_taken, message = pcall(log, print)
   assert(not is_taken and message:find "expected", arg[index])
end
