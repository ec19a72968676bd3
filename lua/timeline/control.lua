-- What is logged, by whom and for how long: priorities, channels, threads, samplers; and snapshots of it.

local ffi = require "ffi"
local C = require "timeline.library"
local check = require "timeline.check"
local object = require "timeline.object"
local priorities = require "timeline.priorities"
local timeline = object.methods
local failed, done, expect, is_text = check.failed, check.done, check.expect, check.is_text
local is_duration, nanoseconds = check.is_duration, check.nanoseconds
local expect_timeline, expect_open, handle_of = object.expect_timeline, object.expect_open, object.handle_of
local LEVELS, A_LEVEL = priorities.LEVELS, priorities.A_LEVEL
local OK, END = C.TIMELINE_OK, C.TIMELINE_END

-- How many important events were dropped so far, by all processes, because there was no room left
-- for them.
function timeline.dropped_important(tl)
   expect_timeline(tl)
   expect_open(tl)
   return tonumber(C.timeline_dropped_important(tl.writer[0]))
end

-- Sets which events are logged, from now on and in every process: those of this priority and
-- the more important ones. Takes rules as well: 'info,engine=packet' with another level for a
-- category, '+engine.got_*' and '-engine.*' for events by their names.
function timeline.priority(tl, rules)
   expect_timeline(tl)
   expect_open(tl)
   expect(is_text(rules), "rules", "a level or rules in a string", rules)
   return done(C.timeline_switch(tl.writer[0], rules))
end

-- Switches a channel on or off, in every process. It need not be defined yet.
function timeline.channel(tl, name, on)
   expect_timeline(tl)
   expect_open(tl)
   expect(is_text(name), "channel", "a string", name)
   expect(type(on) == "boolean", "on", "true or false", on)
   return done(C.timeline_channel(tl.writer[0], name, on))
end

-- Follows an argument of the command line: '-trace=itv,bbc:packet' switches these channels on and
-- adds rules. Returns whether it is such an argument.
function timeline.option(tl, argument)
   expect_timeline(tl)
   expect_open(tl)
   expect(is_text(argument), "argument", "a string", argument)
   local status = C.timeline_option(tl.writer[0], argument)
   if status == END then return false end
   return done(status)
end

-- The level now, by name.
function timeline.level(tl)
   expect_timeline(tl)
   expect_open(tl)
   return LEVELS[C.timeline_level(tl.writer[0])]
end

-- Names the calling thread, and puts it in a group of threads; without a name it has that of the
-- system again. Readers show the name for all its events that are still in the ring.
function timeline.thread(tl, name, group)
   expect_timeline(tl)
   expect_open(tl)
   expect(name == nil or is_text(name), "name", "a string without NUL, or nil for the system's name", name)
   expect(group == nil or is_text(group), "group", "a string without NUL, or nil for none", group)
   return done(C.timeline_thread(tl.writer[0], name, group))
end

local Sampler = { __tostring = function() return "timeline sampler" end }
Sampler.__index = Sampler

-- Raises the level to `level` for `seconds_for` once every `seconds_every`, from a thread of its
-- own, until stop() is called or the sampler is collected, so keep it.
function timeline.sample(tl, level, seconds_for, seconds_every)
   expect_timeline(tl)
   expect_open(tl)
   expect(type(level) == "string" and LEVELS[level], "level", A_LEVEL, level)
   expect(is_duration(seconds_for), "seconds_for", "a positive number of seconds", seconds_for)
   expect(is_duration(seconds_every), "seconds_every", "a positive number of seconds", seconds_every)
   local out = ffi.new("timeline_sampler_t *[1]")
   local status = C.timeline_sample(tl.writer[0], LEVELS[level], nanoseconds(seconds_for),
      nanoseconds(seconds_every), out)
   if status ~= OK then return failed(status) end
   local sampler = setmetatable({ tl = tl, handle = handle_of(out, C.timeline_sampler_free) }, Sampler)
   tl.samplers[sampler] = true
   return sampler
end

-- Ends the sampling and restores the level before it. A second stop does nothing.
function Sampler:stop()
   if self.handle then
      C.timeline_sampler_free(ffi.gc(self.handle, nil))
      self.handle = nil
   end
end

Sampler.close = Sampler.stop

-- Writes a snapshot, consistent while others log.
function timeline.save(tl, file)
   expect_timeline(tl)
   expect_open(tl)
   expect(is_text(file), "file", "a string", file)
   return done(C.timeline_save(tl.writer[0], file))
end

-- Removes the name of a timeline; processes that have it open keep it.
function timeline.unlink(path)
   expect(is_text(path), "path", "a string", path)
   return done(C.timeline_unlink(path))
end
