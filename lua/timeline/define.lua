-- Defines events and spans, and makes the functions that log them.

local ffi = require "ffi"
local C = require "timeline.library"
local check = require "timeline.check"
local object = require "timeline.object"
local priorities = require "timeline.priorities"
local loggers = require("timeline.integer").loggers
local CONVERTERS = require("timeline.convert").CONVERTERS
local typed_logger = require "timeline.typed"
local payload_logger = require "timeline.payload"
local timeline = object.methods
local failed, shown, expect, is_text = check.failed, check.shown, check.expect, check.is_text
local expect_timeline, expect_open, handle_of = object.expect_timeline, object.expect_open, object.handle_of
local PRIORITIES, A_PRIORITY = priorities.PRIORITIES, priorities.A_PRIORITY
local OK = C.TIMELINE_OK

-- The arguments of a message, each with its name (and the $), type and labels, and whether one is converted;
-- or nothing and the status of the failure.
local function fields_of(message)
   local raw, count = ffi.new("timeline_field_t[?]", C.TIMELINE_MAX_FIELDS), ffi.new "uint32_t[1]"
   local status = C.timeline_fields(message, raw, count)
   if status ~= OK then return nil, status end
   local fields, names, converted, has_payload = {}, {}, false, count[0] > 4
   for index = 1, count[0] do
      local field = raw[index - 1]
      names[index] = "$" .. ffi.string(field.name, field.name_length)
      fields[index] = {
         name = names[index],
         type = field.type,
         labels = field.labels ~= nil and ffi.string(field.labels, field.labels_length) or "",
      }
      converted = converted or CONVERTERS[field.type] ~= nil
      has_payload = has_payload or field.type >= C.TIMELINE_STR
   end
   return { fields = fields, names = names, converted = converted, has_payload = has_payload }
end

local ATTRIBUTES = { channels = true, important = true }

-- Raises an error at the line that called the function that defines.
local function expect_definition(category, priority, message, attributes)
   local function check(condition, what, wanted, got, hint)
      if not condition then
         error(("timeline: expected %s as %s, got %s%s"):format(wanted, what, shown(got), hint or ""), 4)
      end
   end
   check(is_text(category), "category", "a string without NUL", category)
   local is_priority = type(priority) == "string" and PRIORITIES[priority]
   check(is_priority, "priority", A_PRIORITY, priority, not is_priority and priorities.meant(priority))
   check(is_text(message), "message", "a string without NUL", message)
   check(attributes == nil or type(attributes) == "table", "attributes", "a table or nil", attributes)
   local channels, important = attributes and attributes.channels, attributes and attributes.important
   for name in pairs(attributes or {}) do check(ATTRIBUTES[name], "attribute", "channels or important", name) end
   check(channels == nil or is_text(channels), "channels", "a string without NUL or nil", channels)
   check(important == nil or type(important) == "boolean", "important", "true, false or nil", important)
end

-- The attributes for C, which must be used before the table is collected.
local function attributes_of(given)
   return ffi.new("timeline_attributes_t", given and given.channels, given and given.important or false)
end

-- The function that logs an event with these fields.
local function logger(writer, event, found)
   if found.has_payload then return payload_logger(writer, event, found.fields) end
   if found.converted then return typed_logger(writer, event, found.fields) end
   return loggers[#found.names](writer, event, found.names)
end

local function span_loggers(define, tl, category, priority, message, attributes)
   local found, status = fields_of(message)
   if not found then return failed(status) end
   local events = ffi.new "timeline_span_events_t"
   status = define(tl.writer[0], category, PRIORITIES[priority], message, attributes_of(attributes), events)
   if status ~= OK then return failed(status) end
   return logger(tl.writer, events.begin, found), logger(tl.writer, events["end"], found)
end

-- Defines an event and returns the function that logs it. That function takes one integer for each $name on the
-- message's first line: numbers (fractions are cut off), int64_t or uint64_t, true and false as 1 and 0. A type behind
-- the name, as in $ratio:f64, $ok:bool, $key:char or $color:enum(red=1,green=2), lets it take numbers with fractions,
-- booleans, a character, or a name of the enum. $at:ptr takes a pointer as well. $name:str and $name:istr take a
-- string, and $name:u16[] a table of numbers or an array of FFI with such elements. There are at most 64 arguments. Any
-- other argument, and a wrong number of them, raises an error at the caller's line, also while the event is disabled.
-- `attributes` is a table or nil: { channels = 'itv|bbc' } lets the event be logged only while both channels are on;
-- 'itv=on' is on unless somebody switches it off. With important = true, the events are kept when the ring is
-- overwritten, and readers get them first.
function timeline.define(tl, category, priority, message, attributes)
   expect_timeline(tl)
   expect_open(tl)
   expect_definition(category, priority, message, attributes)
   local found, status = fields_of(message)
   if not found then return failed(status) end
   local event = ffi.new "uint32_t[1]"
   status = C.timeline_define_with(tl.writer[0], category, PRIORITIES[priority], message, attributes_of(attributes),
      event)
   if status ~= OK then return failed(status) end
   return logger(tl.writer, event[0], found)
end

-- Defines a span: "breath $packets" defines the events "begin breath $packets" and "end breath $packets",
-- which readers pair. Returns the functions that log them, each like that of define(): local begin, done =
-- timeline.define_span(tl, 'engine', 'info', "breath $packets"). A span ends in the thread in which it
-- began, and spans of a thread nest.
function timeline.define_span(tl, category, priority, message, attributes)
   expect_timeline(tl)
   expect_open(tl)
   expect_definition(category, priority, message, attributes)
   return span_loggers(C.timeline_define_span, tl, category, priority, message, attributes)
end

-- Defines a span that may end in another thread or process: "request $id" defines "start request $id" and
-- "finish request $id". The first argument is the key, by which readers pair them.
function timeline.define_async_span(tl, category, priority, message, attributes)
   expect_timeline(tl)
   expect_open(tl)
   expect_definition(category, priority, message, attributes)
   return span_loggers(C.timeline_define_async_span, tl, category, priority, message, attributes)
end

-- Defines all events of a catalogue, a text file. Returns a table of the functions that log them, by
-- the names of the events: timeline.load(tl, 'engine.events')['engine.got_packet'](1500).
function timeline.load(tl, path)
   expect_timeline(tl)
   expect_open(tl)
   expect(is_text(path), "path", "a string", path)
   local out, one = ffi.new "timeline_catalogue_t *[1]", ffi.new "timeline_defined_t"
   local status = C.timeline_define_file(tl.writer[0], path, out)
   if status ~= OK then return failed(status) end
   local catalogue, events, index = handle_of(out, C.timeline_catalogue_free), {}, 0
   while C.timeline_defined(catalogue, index, one) == OK do
      local logger, message, kind = timeline.define(tl, ffi.string(one.category), PRIORITIES[one.priority],
         ffi.string(one.message), { channels = ffi.string(one.channels), important = one.important })
      if not logger then return nil, message, kind end
      events[ffi.string(one.name)] = logger
      index = index + 1
   end
   return events
end
