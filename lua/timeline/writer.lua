-- Makes, joins and closes timelines to write to.

local ffi = require "ffi"
local C = require "timeline.library"
local check = require "timeline.check"
local object = require "timeline.object"
local timeline = object.methods
local expect, shown, is_text, is_size = check.expect, check.shown, check.is_text, check.is_size
local not_made, opened, expect_timeline = object.not_made, object.opened, object.expect_timeline
local OK = C.TIMELINE_OK

-- The number of a user or group; 0 means none, as in C.
local function is_identity(value)
   return value == nil or (type(value) == "number" and value >= 0 and value < 2 ^ 32 and value % 1 == 0)
end

local OPTIONS = { entries = true, stringtablesize = true, mode = true, group = true, trust_user = true,
   trust_group = true, important_entries = true }

-- The options for C. Errors are raised at the line of the program that called new, open or
-- open_or_create.
local function options_of(given)
   local function check(condition, what, wanted, got)
      if not condition then
         error(("timeline: expected %s as %s, got %s"):format(wanted, what, shown(got)), 4)
      end
   end
   given = given or {}
   check(type(given) == "table", "options", "a table or nil", given)
   for name in pairs(given) do
      check(OPTIONS[name], "option",
         "entries, stringtablesize, important_entries, mode, group, trust_user or trust_group", name)
   end
   for _, name in ipairs { "entries", "stringtablesize", "important_entries" } do
      check(given[name] == nil or is_size(given[name]), name, "a positive integer or nil", given[name])
   end
   local mode = given.mode
   check(mode == nil or (type(mode) == "string" and mode:find "^0?[0-7][0-7][0-7]$"), "mode",
      'octal digits in a string, such as "0660", or nil', mode)
   for _, name in ipairs { "group", "trust_user", "trust_group" } do
      check(is_identity(given[name]), name, "the number of a user or group, or nil", given[name])
   end
   return ffi.new("timeline_options_t", given.entries or 0, given.stringtablesize or 0, mode and tonumber(mode, 8) or 0,
      given.group or 0, given.trust_user or 0, given.trust_group or 0, given.important_entries or 0)
end

-- Makes a timeline at `path`: "/name" lives in shared memory, any other path is a file. A timeline
-- that a dead program left under that name is kept as NAME.prev. Takes the sizes, or a table of
-- options.
function timeline.new(path, entries, stringtablesize)
   expect(is_text(path), "path", "a string", path)
   local options = entries
   if type(entries) ~= "table" then
      expect(entries == nil or is_size(entries), "entries", "a positive integer, a table of options or nil", entries)
      expect(stringtablesize == nil or is_size(stringtablesize), "stringtablesize",
         "a positive integer or nil", stringtablesize)
      options = { entries = entries, stringtablesize = stringtablesize }
   end
   local out = ffi.new("timeline_t *[1]")
   local status = C.timeline_new_with(path, options_of(options), out)
   if status ~= OK then return not_made("new", path, status) end
   return opened(path, out)
end

-- Joins the timeline at `path` as a further writer.
function timeline.open(path, options)
   expect(is_text(path), "path", "a string", path)
   local out = ffi.new("timeline_t *[1]")
   local status = C.timeline_open_with(path, options_of(options), out)
   if status ~= OK then return not_made("open", path, status) end
   return opened(path, out)
end

-- Joins the timeline at `path` if it is live (has a writer), or else makes it.
function timeline.open_or_create(path, options)
   expect(is_text(path), "path", "a string", path)
   local out = ffi.new("timeline_t *[1]")
   local status = C.timeline_open_or_create(path, options_of(options), out)
   if status ~= OK then return not_made("open_or_create", path, status) end
   return opened(path, out)
end

-- Closes the timeline now, not when it is collected; its events stay. Its samplers stop, and
-- functions that log to it do nothing any more. A second close does nothing.
function timeline.close(tl)
   expect_timeline(tl)
   if tl.closed then return end
   tl.closed = true
   object.close_all(tl.samplers)
   object.free_writer(tl.writer)
end
