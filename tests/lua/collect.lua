-- The garbage collector: closures keep their timeline, handles are freed, and a freed writer is gone.
local timeline = require "timeline"
local name = arg[1]

-- The closure alone keeps the timeline usable.
local log = assert(assert(timeline.new(name, 256)):define("test", "info", "still $here"))
collectgarbage()
collectgarbage()
log(1)
assert(tostring(assert(timeline.attach(name)):events("newest")()) == "still here(1)")
assert(not timeline.new(name), "it is in use as long as the closure lives")

-- Without it the writer goes, and the name can be made anew.
log = nil
collectgarbage()
collectgarbage()
assert(timeline.new(name, 256))
collectgarbage()
collectgarbage()

-- Many handles of every kind leave no descriptors or memory behind.
-- Through a file: of a pipe, this process would have one end or both, as it happens.
local function descriptors()
   local file = arg[2] .. "/descriptors"
   os.execute("ls /proc/$PPID/fd | wc -l >" .. file)
   local opened = assert(io.open(file))
   local number = tonumber(opened:read("*a"))
   opened:close()
   return number
end
local tl = assert(timeline.new(name, 256))
local first = assert(tl:define("test", "info", "first"))
first()
local before
for round = 1, 60 do
   local other = assert(timeline.open(name))
   assert(other:define("test", "info", "first"))()
   local at = assert(timeline.attach(name))
   for _ in at:events() do end
   for _ in at:follow() do end
   other, at = nil, nil
   collectgarbage()
   collectgarbage()
   before = before or descriptors()
end
local after = descriptors()
assert(after == before, ("%d descriptors became %d"):format(before, after))

-- A second copy of the module shares what the first declared.
package.loaded.timeline = nil
assert(require "timeline" ~= timeline)
