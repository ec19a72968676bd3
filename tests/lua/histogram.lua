-- Percentiles of a program's own spans.
local timeline = require "timeline"
local name = arg[1]

local function raises(what, ...)
   local ok, message = pcall(...)
   assert(not ok and tostring(message):find(what, 1, true), message)
end

local tl = assert(timeline.new(name, 1024))
local begin, done = assert(timeline.define_span(tl, 'engine', 'info', "breath $n"))
local histogram = assert(timeline.histogram(tl, "engine.breath"))
local new = assert(timeline.histogram(name, "engine.begin_*..engine.end_* by n", "now"))
assert(histogram:count() == 0 and histogram:percentile(99) == 0 and histogram:mean() == 0)
for n = 1, 100 do
   begin(n)
   done(n)
end
assert(histogram:update() and new:update())
assert(histogram:count() == 100 and new:count() == 100)
local least, median, most = histogram:percentile(0), histogram:percentile(50), histogram:percentile(100)
-- A breath may be shorter than what the clock of a virtual machine tells apart.
assert(0 <= least and least <= median and median <= most and most > 0)
assert(least <= histogram:mean() and histogram:mean() <= most)
assert(new:percentile(100) == most)
assert(histogram:update() and histogram:count() == 100)

-- A span that is open is measured when it ends, also after a reset.
begin(101)
assert(histogram:update() and histogram:reset() and histogram:count() == 0)
done(101)
assert(histogram:update() and histogram:count() == 1 and histogram:lost() == 0)
done(102)
assert(histogram:update() and histogram:lost() == 1)

-- What was overwritten before it was read is counted, since when as well.
assert(histogram:reset())
assert(histogram:missed() == 0)
for n = 1, 100000 do
   begin(n)
   done(n)
end
assert(histogram:update())
local missed, since = histogram:missed()
assert(missed + 2 * histogram:count() >= 199000 and histogram:count() <= 512, missed)
assert(since > 1.5e18, since)
assert(histogram:reset() and histogram:missed() == 0)

-- The next run of the program is followed by the same update that reads the former one to its end.
-- What was open then is lost, once, and what was overwritten is missing since the next run began.
local lost = histogram:lost()
begin(1)
assert(histogram:update() and histogram:reset())
tl:close()
tl = assert(timeline.new(name, 1024))
begin, done = assert(timeline.define_span(tl, 'engine', 'info', "breath $n"))
for n = 1, 5 do
   begin(n)
   done(n)
end
assert(histogram:update() and histogram:count() == 5 and histogram:missed() == 0)
assert(histogram:lost() == lost + 1 and histogram:update() and histogram:lost() == lost + 1)
tl:close()
tl = assert(timeline.new(name, 1024))
begin, done = assert(timeline.define_span(tl, 'engine', 'info', "breath $n"))
for n = 1, 5000 do
   begin(n)
   done(n)
end
assert(histogram:update())
missed, since = histogram:missed()
assert(missed >= 8900 and missed < 10000, missed)
assert(since > 1.5e18, since)

-- A name that is like another one is misspelt.
raises("did you mean engine.breath", timeline.histogram, tl, "engine.breth")
raises("there are: n", timeline.histogram, tl, "engine.begin_breath..engine.end_breath by size")
raises("as what, got 7", timeline.histogram, tl, 7)
raises("now or oldest as start", timeline.histogram, tl, "a", "later")
raises("as percent", histogram.percentile, histogram, "p50")
raises("expected a span", timeline.histogram, tl, "two words")
local nothing, why = timeline.histogram("/no-such-timeline", "a")
assert(nothing == nil and why, why)
assert(tostring(histogram):find "histogram")
histogram:close()
histogram:close()
raises("closed", histogram.update, histogram)
