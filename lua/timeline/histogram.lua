-- Measures durations in a timeline.

local ffi = require "ffi"
local C = require "timeline.library"
local check = require "timeline.check"
local object = require "timeline.object"
local STARTS = require("timeline.attached").STARTS
local timeline = object.methods
local failed, done, expect, is_text = check.failed, check.done, check.expect, check.is_text
local is_timeline, expect_timeline, expect_open = object.is_timeline, object.expect_timeline, object.expect_open
local described, handle_of = object.described, object.handle_of
local OK = C.TIMELINE_OK

local Histogram = { __tostring = described "histogram" }
Histogram.__index = Histogram

-- Measures durations in a timeline: of a span ("engine.breath"), between two events of one thread
-- ("a..b") or with one value in a field ("a..b by id"), or since the event before ("every a").
-- `source` as for `timeline.attach`. `start`: "oldest" begins with the oldest event in the ring,
-- "now" with what comes. It is empty until update().
function timeline.histogram(source, what, start)
   if is_timeline(source) then
      expect_open(source)
      source = source.path
   end
   if not is_text(source) then expect_timeline(source, "a timeline or a path") end
   expect(is_text(what), "what", "a string, such as engine.breath", what)
   local from = STARTS[start or "oldest"]
   expect(from, "start", "now or oldest", start)
   local out = ffi.new("timeline_histogram_t *[1]")
   local status = C.timeline_histogram(source, what, from, out)
   if status ~= OK then return failed(status) end
   return setmetatable({ path = source, handle = handle_of(out, C.timeline_histogram_free) }, Histogram)
end

-- Records the durations that ended since the last update.
function Histogram:update()
   expect_open(self)
   return done(C.timeline_histogram_update(self.handle))
end

-- How many durations were recorded.
function Histogram:count()
   expect_open(self)
   return tonumber(C.timeline_histogram_count(self.handle))
end

-- The duration in nanoseconds that `percent` of all do not exceed: 50, 99.9; 0 for the shortest, 100
-- for the longest.
function Histogram:percentile(percent)
   expect_open(self)
   expect(type(percent) == "number", "percent", "a number from 0 to 100", percent)
   return tonumber(C.timeline_histogram_percentile(self.handle, percent))
end

-- The mean of all durations, in nanoseconds.
function Histogram:mean()
   expect_open(self)
   return tonumber(C.timeline_histogram_mean(self.handle))
end

-- How many events have no other half, so that nothing was recorded.
function Histogram:lost()
   expect_open(self)
   return tonumber(C.timeline_histogram_lost(self.handle))
end

-- How many entries were overwritten before an update could read them, since it was made or reset, and
-- since when, in nanoseconds since 1970.
function Histogram:missed()
   expect_open(self)
   local missed = tonumber(C.timeline_histogram_missed(self.handle))
   return missed, tonumber(C.timeline_histogram_missed_since(self.handle))
end

-- Forgets the durations and what was missed, to measure the next interval.
function Histogram:reset()
   expect_open(self)
   return done(C.timeline_histogram_reset(self.handle))
end

-- Releases it now, not when it is collected. A second close does nothing.
function Histogram:close()
   if self.closed then return end
   self.closed = true
   C.timeline_histogram_free(ffi.gc(self.handle, nil))
   self.handle = nil
end
