-- Logs the numbers that come on standard input, and says so for each.
local timeline = require("timeline")

local tl = timeline.new(arg[1])
local turn = timeline.define(tl, "turns", "info", "turn $number")
print("ready")
io.stdout:flush()
for line in io.lines() do
    turn(tonumber(line))
    print(line)
    io.stdout:flush()
end
