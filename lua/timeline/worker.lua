-- Records a timeline inside the program that logs to it: to files, or to a store.
--
--   local worker = require "timeline.worker"
--   local recording = assert(worker.start(tl, { file = "flights/", rotate_size = 2^26 }))
--   recording:flush(1)                                     -- what was logged is written; seconds
--   print(recording:stop().events)

local ffi = require "ffi"
local C = require "timeline.library"
local check = require "timeline.check"
local object = require "timeline.object"
local expect, shown, is_text, is_size = check.expect, check.shown, check.is_text, check.is_size
local expect_timeline, expect_open = object.expect_timeline, object.expect_open
local OK, END, BUSY = C.TIMELINE_OK, C.TIMELINE_END, C.TIMELINE_E_BUSY

if not pcall(ffi.typeof, "timeline_worker_options_t") then ffi.cdef(require "timeline.worker_cdef") end
local W = require "timeline.find"("libtimeline_worker", "libtimeline-worker", "TIMELINE_WORKER_LIBRARY",
   "timeline_worker_start")

local worker = {}

local Recording = { __tostring = function(recording)
   return "timeline worker" .. (recording.handle and "" or " (stopped)")
end }
Recording.__index = Recording

local ACKNOWLEDGE = { written = W.TIMELINE_WORKER_WRITTEN, durable = W.TIMELINE_WORKER_DURABLE,
   nothing = W.TIMELINE_WORKER_NOTHING }

local function is_seconds(value) return type(value) == "number" and value >= 0 and value < 1e9 end

local function nanoseconds(seconds) return math.floor((seconds or 0) * 1e9 + 0.5) end

-- What each option may be, and how it is called in an error.
local OPTIONS = {
   file = { is_text, "a path in a string" }, store = { is_text, "HOST or HOST:PORT in a string" },
   labels = { is_text, "NAME=VALUE,NAME=VALUE in a string" },
   fingerprint = { is_text, "the fingerprint of a certificate in a string" },
   token_file = { is_text, "a path in a string" },
   rotate_size = { is_size, "a positive number of bytes" }, keep_size = { is_size, "a positive number of bytes" },
   buffer = { is_size, "a positive number of bytes" },
   rotate_every = { check.is_duration, "a positive number of seconds" },
   shortest_wait = { check.is_duration, "a positive number of seconds" },
   longest_wait = { check.is_duration, "a positive number of seconds" },
   acknowledge = { function(value) return ACKNOWLEDGE[value] end, '"written", "durable" or "nothing"' },
   thread = { function(value) return type(value) == "boolean" end, "true or false" },
}

-- Errors are raised at the line of the program that called start.
local function options_of(given)
   for name, value in pairs(given) do
      local option = OPTIONS[name]
      if not option then error(("timeline: there is no option %s of a worker"):format(shown(name)), 3) end
      if not option[1](value) then
         error(("timeline: expected %s as %s, got %s"):format(option[2], name, shown(value)), 3)
      end
   end
   return ffi.new("timeline_worker_options_t", {
      file = given.file, store = given.store, labels = given.labels,
      fingerprint = given.fingerprint, token_file = given.token_file, rotate_size = given.rotate_size or 0,
      rotate_every_ns = nanoseconds(given.rotate_every), keep_size = given.keep_size or 0,
      buffer = given.buffer or 0, acknowledge = given.acknowledge and ACKNOWLEDGE[given.acknowledge] or 0,
      without_thread = given.thread == false, shortest_wait_ns = nanoseconds(given.shortest_wait),
      longest_wait_ns = nanoseconds(given.longest_wait),
   })
end

-- Tail calls, as check.lua says.
local function failed(status) return check.failed(status, W.timeline_worker_last_error()) end

-- Starts to record `tl`. Without a file and a store, the environment is asked (TIMELINE_FILE, TIMELINE_TO); false if it
-- asks for none. The recording ends when it is stopped or collected, so keep it.
function worker.start(tl, options)
   expect_timeline(tl)
   expect_open(tl)
   expect(options == nil or type(options) == "table", "options", "a table or nil", options)
   local out = ffi.new("timeline_worker_t *[1]")
   -- Kept until C has read the texts, which are those of the program's strings.
   local told = options_of(options or {})
   local status = W.timeline_worker_start(tl.writer[0], told, out)
   if status == END then return false end
   if status ~= OK then return failed(status) end
   local stop = function(handle) W.timeline_worker_stop(handle, nil) end
   return setmetatable({ handle = ffi.gc(out[0], stop) }, Recording)
end

-- Puts what an argument of the command line asks for into a table of options, if it is -tracefile=PATH or
-- -tracehost=HOST[:PORT]. Returns whether it is.
function worker.option(options, argument)
   expect(type(options) == "table", "options", "a table", options)
   expect(is_text(argument), "argument", "a string", argument)
   local told = ffi.new "timeline_worker_options_t"
   local status = W.timeline_worker_option(told, argument)
   if status == END then return false end
   if status ~= OK then return failed(status) end
   options.file = told.file ~= nil and ffi.string(told.file) or nil
   options.store = told.store ~= nil and ffi.string(told.store) or nil
   return true
end

local function totals_of(found)
   local totals = {}
   for _, name in ipairs { "events", "overwritten", "missed", "missed_unknown", "left", "unsent", "bytes" } do
      totals[name] = tonumber(found[name])
   end
   return totals
end

-- Records for this number of seconds, if the recording has no thread.
function Recording:update(seconds)
   expect(is_seconds(seconds), "seconds", "a number of seconds", seconds)
   local status = W.timeline_worker_update(self.handle, nanoseconds(seconds))
   if status ~= OK then return failed(status) end
   return true
end

-- Writes what was logged so far. Returns whether that was done in this number of seconds.
function Recording:flush(seconds)
   expect(is_seconds(seconds), "seconds", "a number of seconds", seconds)
   local status = W.timeline_worker_flush(self.handle, nanoseconds(seconds))
   if status == BUSY then return false end
   if status ~= OK then return failed(status) end
   return true
end

-- What was recorded so far.
function Recording:totals()
   local found = ffi.new "timeline_worker_totals_t"
   local status = W.timeline_worker_totals(self.handle, found)
   if status ~= OK then return failed(status) end
   return totals_of(found)
end

-- What is in the way at present, in a sentence; nil if nothing is.
function Recording:trouble()
   local text = ffi.new "char[1024]"
   local status = W.timeline_worker_trouble(self.handle, text, ffi.sizeof(text))
   if status == END then return nil end
   if status ~= OK then return failed(status) end
   return ffi.string(text)
end

-- Records what was logged so far, and ends. Returns what was recorded in all; nil if it was stopped before.
function Recording:stop()
   if not self.handle then return nil end
   local handle, found = ffi.gc(self.handle, nil), ffi.new "timeline_worker_totals_t"
   self.handle = nil
   local status = W.timeline_worker_stop(handle, found)
   if status ~= OK then return failed(status) end
   return totals_of(found)
end

Recording.close = Recording.stop

return worker
