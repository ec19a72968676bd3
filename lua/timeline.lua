-- timeline: a flight recorder, driven from LuaJIT.
--
--   local timeline = require "timeline"
--   local tl = assert(timeline.new("/timeline"))          -- [entries], [stringtablesize]
--   local proc = timeline.define(tl, 'example', 'trace', "processed $tcp, $udp, and $other")
--   proc(10, 20, 3)
--   timeline.priority(tl, 'info')                          -- or all, none
--   timeline.save(tl, "snapshot.timeline")
--   timeline.dump("snapshot.timeline", 20)
--
-- Every function that takes a timeline is also its method: timeline.save(tl, f), tl:save(f).
--
-- A failure that can happen to a correct program (no permission, no space, a name in use, a full
-- table) is returned: nil, a message and the kind of failure ("in_use", "no_space"). A failure that
-- only a mistake in the program can cause (a wrong type, a priority that does not exist, a size
-- that is no power of two, five arguments in a message) is raised with error(), at the caller's
-- line.

local ffi = require "ffi"
local band = require("bit").band
local type = type

local timeline = {}

-- Finding the library ------------------------------------------------------------------------

local here = debug.getinfo(1, "S").source:match("^@(.*[/\\])") or "./"

-- A second require (package.loaded cleared, two copies on the path) must not declare twice.
if not pcall(ffi.typeof, "timeline_event_t") then
   local beside = loadfile(here .. "timeline_cdef.lua")
   ffi.cdef(beside and beside() or require "timeline_cdef")
end

-- A program that has more rights than who started it (setuid) loads no library that this person names.
local function has_rights_of_its_file()
   local AT_SECURE = 23
   -- The host may have declared it already.
   pcall(ffi.cdef, "unsigned long getauxval(unsigned long type);")
   return ffi.C.getauxval(AT_SECURE) ~= 0
end

local function candidates()
   local named = not has_rights_of_its_file() and os.getenv("TIMELINE_LIBRARY")
   if named and named ~= "" then return { named } end
   local list = {
      -- The source tree: this file is lua/timeline.lua.
      here .. "../target/release/libtimeline.so",
      here .. "../target/debug/libtimeline.so",
   }
   -- An installed prefix: this file is PREFIX/share/lua/5.1/timeline.lua.
   for _, lib in ipairs { "lib/", "lib64/", "lib/x86_64-linux-gnu/", "lib/aarch64-linux-gnu/" } do
      list[#list + 1] = here .. "../../../" .. lib .. "libtimeline.so.0"
      list[#list + 1] = here .. "../../../" .. lib .. "libtimeline.so"
   end
   list[#list + 1] = here .. "libtimeline.so"
   for template in package.cpath:gmatch("[^;]+") do
      local path = template:gsub("?", "libtimeline")
      -- The loader would search for a name without a slash, but these are files.
      list[#list + 1] = path:find("/", 1, true) and path or "./" .. path
   end
   list[#list + 1] = "libtimeline.so.0"
   list[#list + 1] = "libtimeline.so"
   return list
end

local function load_library()
   local tried = {}
   for _, path in ipairs(candidates()) do
      local ok, result = pcall(function()
         local library = ffi.load(path)
         -- Another library of that name has no such symbol.
         return library.timeline_version and library
      end)
      if ok then return result end
      tried[#tried + 1] = tostring(result)
   end
   error("timeline: cannot load libtimeline.so. Build it with make, install it with make install, "
      .. "or name it in the environment variable TIMELINE_LIBRARY. Tried:\n\t"
      .. table.concat(tried, "\n\t"), 0)
end

local C = load_library()

-- Checking arguments -------------------------------------------------------------------------

local OK, END, ARGUMENT = C.TIMELINE_OK, C.TIMELINE_END, C.TIMELINE_E_ARGUMENT

local KINDS = {}
for _, kind in ipairs { "io", "not_found", "in_use", "no_space", "not_a_timeline", "version", "corrupt",
   "argument", "full", "busy", "not_trusted", "bug" } do
   KINDS[C["TIMELINE_E_" .. kind:upper()]] = kind
end

-- Always called as `return failed(status)`: the tail call takes its caller off the stack, so
-- that level 2 is the line of the program that called this module.
local function failed(status)
   local message = ffi.string(C.timeline_last_error())
   if status == ARGUMENT then error(message, 2) end
   return nil, message, KINDS[status]
end

local function done(status)
   if status ~= OK then return failed(status) end
   return true
end

local function shown(value) return type(value) == "string" and ("%q"):format(value) or tostring(value) end

local function expect(condition, what, wanted, got)
   if condition then return end
   error(("timeline: expected %s as %s, got %s"):format(wanted, what, shown(got)), 3)
end

-- C would cut a string short at a NUL, so such a string is refused here.
local function is_text(value)
   return type(value) == "string" and not value:find("\0", 1, true)
end

local function is_size(value)
   return type(value) == "number" and value >= 1 and value < 2 ^ 53 and value % 1 == 0
end

local function is_duration(value)
   return type(value) == "number" and value >= 1e-9 and value < 1e9
end

local function nanoseconds(seconds) return math.floor(seconds * 1e9 + 0.5) end

local PRIORITIES = {}
for _, name in ipairs { "error", "warning", "info", "trace", "app", "packet", "library" } do
   local number = ffi.new("int32_t[1]")
   assert(C.timeline_priority_parse(name, number) == OK)
   PRIORITIES[number[0]], PRIORITIES[name] = name, number[0]
end

local LEVELS = { all = C.TIMELINE_ALL, none = C.TIMELINE_NONE }
for name, number in pairs(PRIORITIES) do
   if type(name) == "string" then LEVELS[name] = number end
end
for name, number in pairs { all = LEVELS.all, none = LEVELS.none } do LEVELS[number] = name end
for name, number in pairs(PRIORITIES) do
   if type(name) == "number" then LEVELS[name] = number end
end

local A_PRIORITY = "error, warning, info, trace, app, packet or library"
local A_LEVEL = "all, none, " .. A_PRIORITY

-- Writing ------------------------------------------------------------------------------------

local function described(what)
   return function(object)
      return ("%s %s%s"):format(what, object.path, object.closed and " (closed)" or "")
   end
end

local Timeline = { __index = timeline, __tostring = described "timeline" }

local function is_timeline(value) return getmetatable(value) == Timeline end

-- The message of the last new or open that returned nil: that nil is often passed on as a timeline.
local last_failure

local function not_made(how, path, status)
   last_failure = ("timeline.%s(%q) failed: %s"):format(how, path, ffi.string(C.timeline_last_error()))
   return failed(status)
end

local function expect_timeline(value, wanted)
   if is_timeline(value) then return end
   local got = value == nil and last_failure and "nil; " .. last_failure or shown(value)
   error(("timeline: expected %s as first argument, got %s"):format(wanted or "a timeline", got), 3)
end

local function handle_of(pointer, free) return ffi.gc(pointer[0], free) end

local function expect_open(object)
   if not object.closed then return end
   error(("timeline: expected one that is open, got %s; open or attach again"):format(tostring(object)), 3)
end

-- The objects that a timeline or an attached timeline closes with itself. The keys are weak, so an
-- object may be collected before.
local function dependants() return setmetatable({}, { __mode = "k" }) end

local function close_all(objects)
   for object in pairs(objects) do object:close() end
end

-- The pointer to the C handle, NULL once it is closed. The functions that log hold it, and so keep
-- the timeline open.
local function free_writer(writer)
   if writer[0] ~= nil then
      C.timeline_free(writer[0])
      writer[0] = nil
   end
end

local function opened(path, writer)
   return setmetatable({ path = path, writer = ffi.gc(writer, free_writer), samplers = dependants() }, Timeline)
end

-- The number of a user or group; 0 means none, as in C.
local function is_identity(value)
   return value == nil or (type(value) == "number" and value >= 0 and value < 2 ^ 32 and value % 1 == 0)
end

local OPTIONS = { entries = true, stringtablesize = true, mode = true, group = true, trust_user = true, trust_group = true,
   important_entries = true }

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
      check(OPTIONS[name], "option", "entries, stringtablesize, important_entries, mode, group, trust_user or trust_group",
         name)
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
   close_all(tl.samplers)
   free_writer(tl.writer)
end

-- Looked up once, because the interpreter takes long for it.
local timeline_log = C.timeline_log

local INTEGERS = { ffi.typeof "int64_t", ffi.typeof "uint64_t" }

local SIGNED, UNSIGNED = INTEGERS[1], INTEGERS[2]
local COMPLEX, COMPLEX_FLOAT = ffi.typeof "complex", ffi.typeof "complex float"

-- Found without a look into a table: the code of a loop has at most 500 constants.
local istype, typeof = ffi.istype, ffi.typeof

-- Whether a value of FFI is a type, such as ffi.typeof "int": its number would pass for an integer, and ffi.istype takes
-- it for a value of that type. To be compiled, it looks at the text only if a value equals the number of its type.
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

-- Values of types -----------------------------------------------------------------------------

local Word = ffi.typeof "union { double f64; float f32[2]; int64_t bits; }"

-- Each makes a function that turns a number into the word of an entry. Each field has its own, for a hook or a callback
-- of the profiler may log with another function in between.
local function f64_word()
   local word = Word()
   return function(value)
      word.f64 = value
      return word.bits
   end
end

local function f32_word()
   local word = Word()
   return function(value)
      word.f32[0] = value
      return word.bits
   end
end

-- A number as messages have it, in base 10, or in base 16 behind 0x: an int64_t if a number of Lua would not be exact.
local function exact(text)
   local rounded = tonumber(text)
   if rounded and math.abs(rounded) < 2 ^ 53 then return rounded end
   local number, base = 0ULL, text:find "^0x" and 16 or 10
   for digit in text:gsub("^0x", ""):gmatch "%x" do number = number * base + tonumber(digit, 16) end
   return INTEGERS[1](text:find "^-" and -number or number)
end

-- The number behind each name of an enum or of flags: "red=1,green=2".
local function numbers_of(labels)
   local numbers = {}
   for name, number in labels:gmatch "([^=,]+)=([^,]+)" do
      numbers[name:match "^%s*(.-)%s*$"] = exact(number:match "^%s*(.-)%s*$")
   end
   return numbers
end

-- Raises an error at the line that called the logger, which called what calls this.
local function refuse_value(wanted, field, value)
   error(("timeline: expected %s as %s, got %s"):format(wanted, field.name, shown(value)), field.level or 4)
end

-- No function that a logger calls ends in a tail call: LuaJIT gives up a loop with more than fifteen of them, for good.

-- The number of an integer of C, or 1 or 0. LuaJIT itself makes 0 of an uint64_t in a float now and then.
local function as_number(value)
   local number = value == true and 1 or value == false and 0 or tonumber(value)
   return number
end

local function float_of(field, store)
   return function(value)
      local number = value
      if type(value) ~= "number" then
         if not is_integer(value) then refuse_value("a number", field, value) end
         number = as_number(value)
      end
      local stored = store(number)
      return stored
   end
end

local function bool_of(field)
   return function(value)
      if value == true then return 1 elseif value == false then return 0 end
      if type(value) ~= "number" and not is_integer(value) then refuse_value("true or false", field, value) end
      return value ~= 0 and 1 or 0
   end
end

-- The code point of the first character, or its byte where that is not UTF-8.
local function code_point(text)
   local first, rest = text:byte(1, 1), 0
   if first >= 0xf0 then rest = 3 elseif first >= 0xe0 then rest = 2 elseif first >= 0xc2 then rest = 1 end
   if rest == 0 or #text ~= rest + 1 or first > 0xf4 then return first < 0x80 and first or first - 256, 1 end
   local point = first % 2 ^ (6 - rest)
   for at = 2, rest + 1 do
      local byte = text:byte(at)
      if byte < 0x80 or byte > 0xbf then return first - 256, 1 end
      point = point * 64 + byte % 64
   end
   return point, rest + 1
end

local function char_of(field)
   return function(value)
      if type(value) == "string" and value ~= "" then
         local point, length = code_point(value)
         if length == #value then return point end
      elseif type(value) == "number" or is_integer(value) then
         return value
      end
      refuse_value("one character or its number", field, value)
   end
end

local function enum_of(field)
   local numbers = numbers_of(field.labels)
   return function(value)
      local number = numbers[value]
      if number then return number end
      if type(value) ~= "number" and not is_integer(value) then
         refuse_value("one of " .. field.labels .. ", or a number", field, value)
      end
      return value
   end
end

-- By the number of a type of C, which stays the same: whether it is a pointer.
local POINTERS = {}
local ANY_POINTER = ffi.typeof "void *"

-- Whether a value is a pointer. To ask for its type allocates where LuaJIT compiles this function alone. So the two types
-- that came last are remembered.
local function address_check()
   local one, other = ANY_POINTER, ANY_POINTER
   return function(value)
      if ffi.istype(one, value) or ffi.istype(other, value) then return true end
      local kind = ffi.typeof(value)
      local number = tonumber(kind)
      local known = POINTERS[number]
      if known == nil then
         known = ffi.sizeof(value) == 8 and tostring(kind):find "%*[%a_ ]*[>)&]" ~= nil
         POINTERS[number] = known
      end
      if known then one, other = kind, one end
      return known
   end
end

local function pointer_of(field)
   local is_address = address_check()
   return function(value)
      if type(value) == "number" then return value end
      -- A type, such as that of a pointer, has a number, and a pointer has none.
      if type(value) == "cdata" and not tonumber(value) and is_address(value) then
         -- As a number: where LuaJIT compiles this function alone, it would allocate the uint64_t that it returns.
         local address = ffi.cast(INTEGERS[2], value)
         local number = tonumber(address)
         return number < 2 ^ 53 and number or address
      end
      if not is_integer(value) then refuse_value("a pointer or an integer", field, value) end
      return value
   end
end

local function integer_of(field)
   return function(value)
      if type(value) ~= "number" and not is_integer(value) then refuse_value("an integer", field, value) end
      return value
   end
end

-- C makes an int64_t of a number, in which one from 2^63 on has no room, but the negative one with the same bits has.
local function natural_of(of)
   return function(field)
      -- One call deeper: an error names the line that called the logger.
      local convert = of({ name = field.name, labels = field.labels, level = 5 })
      return function(value)
         if type(value) ~= "number" then
            local converted = convert(value)
            return converted
         end
         if value >= 2 ^ 63 and value < 2 ^ 64 then return value - 2 ^ 64 end
         return value
      end
   end
end

-- By type: what converts the values of it that are not numbers.
local NATURALS = {
   [C.TIMELINE_FLAGS] = enum_of, [C.TIMELINE_PTR] = pointer_of, [C.TIMELINE_U64] = integer_of,
   [C.TIMELINE_HEX] = integer_of, [C.TIMELINE_BYTES] = integer_of,
}

-- By type: makes the function that turns a value into the word of an entry.
local CONVERTERS = {
   [C.TIMELINE_F64] = function(field) return float_of(field, f64_word()) end,
   [C.TIMELINE_F32] = function(field) return float_of(field, f32_word()) end,
   [C.TIMELINE_BOOL] = bool_of,
   [C.TIMELINE_CHAR] = char_of,
   [C.TIMELINE_ENUM] = enum_of,
}
for kind, of in pairs(NATURALS) do CONVERTERS[kind] = natural_of(of) end

local function zero() return 0 end

-- The function that logs an event of which a field is converted.
local function typed_logger(writer, event, fields)
   local names, to = {}, {}
   for index, field in ipairs(fields) do
      names[index], to[index] = field.name, (CONVERTERS[field.type] or integer_of)(field)
   end
   local count = #fields
   local to_a, to_b, to_c, to_d = to[1] or zero, to[2] or zero, to[3] or zero, to[4] or zero
   -- A value more than there are fields is an error, as is one that is missing. A pointer that is NULL is equal to nil,
   -- but given.
   local function check_count(a, b, c, d, more)
      local given = type(d) ~= "nil" and 4 or type(c) ~= "nil" and 3 or type(b) ~= "nil" and 2
         or type(a) ~= "nil" and 1 or 0
      if given > count or type(more) ~= "nil" then refused_count(names, "more") end
      if given < count then refused_count(names, given) end
   end
   return function(a, b, c, d, more)
      if more ~= nil or (count < 4 and d ~= nil) or (count < 3 and c ~= nil) or (count < 2 and b ~= nil)
         or (count > 3 and d == nil) or (count > 2 and c == nil) or (count > 1 and b == nil) or a == nil then
         check_count(a, b, c, d, more)
      end
      local wa, wb, wc, wd = to_a(a), to_b(b), to_c(c), to_d(d)
      local tl = writer[0]
      if tl ~= nil then timeline_log(tl, event, wa, wb, wc, wd) end
   end
end

-- The elements of arrays, by type.
local ELEMENTS = {
   [C.TIMELINE_I8] = "int8_t", [C.TIMELINE_U8] = "uint8_t", [C.TIMELINE_I16] = "int16_t",
   [C.TIMELINE_U16] = "uint16_t", [C.TIMELINE_I32] = "int32_t", [C.TIMELINE_U32] = "uint32_t",
   [C.TIMELINE_I64] = "int64_t", [C.TIMELINE_U64] = "uint64_t", [C.TIMELINE_F32] = "float",
   [C.TIMELINE_F64] = "double",
}

-- The most bytes of a payload.
local MOST = 1528

-- A table as it is: a metamethod might log with the function that is under way, and so change its payload.
local rawget, length_of = rawget, rawlen or function(value) return #value end

-- The bytes of the arrays whose type does not tell it, such as ffi.new("uint8_t[?]", 1500), or false if nobody knows.
-- LuaJIT does not compile ffi.sizeof of these. The keys are weak; before the memory of an array can be that of
-- another one, its entry is gone.
local sizes, measured = setmetatable({}, { __mode = "k" }), nil
local function measure()
   local value = measured
   -- Of an array at the end of a struct, it raises an error.
   local known, size = pcall(ffi.sizeof, value)
   sizes[value] = known and size or false
end
-- It would try in vain, again and again.
jit.off(measure)

-- The bytes of such an array. LuaJIT compiles what is before and behind gsub, but not what gsub calls.
local gsub = string.gsub
local function measured_size(value)
   local size = sizes[value]
   if size == nil then
      -- A hook may measure another one in between, and leaves this one here again.
      local before = measured
      measured = value
      gsub("x", "x", measure)
      measured, size = before, sizes[value]
   end
   return size
end

-- Makes a function that says how many bytes an array of FFI with such elements has, and says false for any other value.
-- It allocates only for the first array of a size. A pointer is none: nobody knows how many elements it leads to.
local function array_size_of(elements)
   local unit, by_size = ffi.sizeof(elements[1]), {}
   local one, other = elements[1], elements[2] or elements[1]
   local open, other_open = ffi.typeof("$[?]", one), ffi.typeof("$[?]", other)
   return function(value)
      -- An array has no number, but a type has.
      if tonumber(value) then return false end
      if ffi.istype(open, value) or ffi.istype(other_open, value) then
         local size = measured_size(value)
         return size
      end
      local size = ffi.sizeof(value)
      if size == nil or size % unit ~= 0 then return false end
      local kinds = by_size[size]
      if kinds == nil then
         kinds = {}
         for index, element in ipairs(elements) do kinds[index] = ffi.typeof("$[" .. size / unit .. "]", element) end
         by_size[size] = kinds
      end
      if ffi.istype(kinds[1], value) or kinds[2] and ffi.istype(kinds[2], value) then return size end
      return false
   end
end

-- By the bytes of an element: an integer and its low bits. Made once, for LuaJIT keeps each type for good.
local WHOLE = {}
for _, unit in ipairs { 1, 2, 4 } do
   WHOLE[unit] = ffi.typeof(("union { int64_t bits; int%d_t low; }"):format(8 * unit))
end

-- The function that puts an element of a table into a copy, and the copy. It converts each as the value of a field of
-- that type is converted: to an integer of 64 bits, whose low ones it takes. What LuaJIT makes of a number that has no
-- room in a shorter or unsigned integer is not defined. Nothing here may allocate, also in the interpreter.
local function copier(element, most)
   local unit = ffi.sizeof(element)
   local is_float = element == "float" or element == "double"
   local copy = ffi.new(ffi.typeof("$[?]", ffi.typeof(is_float and element or ("int%d_t"):format(8 * unit))), most)
   if is_float then
      return function(index, value) copy[index] = type(value) == "number" and value or as_number(value) end, copy
   elseif element == "int64_t" then
      return function(index, value) copy[index] = value end, copy
   elseif element == "uint64_t" then
      return function(index, value)
         if type(value) == "number" and value >= 2 ^ 63 and value < 2 ^ 64 then value = value - 2 ^ 64 end
         copy[index] = value
      end, copy
   end
   local whole = WHOLE[unit]()
   return function(index, value)
      whole.bits = value
      copy[index] = whole.low
   end, copy
end

-- Checks an array, and finds its first element and how many it has: of a table of numbers, which is copied
-- first, or of an array of FFI, whose elements must be those of the field.
local function array_of(field)
   local element = ELEMENTS[field.type - C.TIMELINE_ARRAY_OF]
   local unit = ffi.sizeof(element)
   local most = MOST / unit
   local put, copy = copier(element, most)
   -- Bytes are often those of a `char[]`, whose elements LuaJIT takes for `int8_t` or `uint8_t`.
   local size_of = array_size_of { ffi.typeof(element), unit == 1 and ffi.typeof "char" or nil }
   local function check_array(value)
      local kind = type(value)
      if kind == "table" then
         for index = 1, length_of(value) do
            local number = rawget(value, index)
            if type(number) ~= "number" and not is_integer(number) then
               refuse_value("a number in " .. field.name .. "[" .. index .. "]", field, number)
            end
         end
      elseif kind ~= "cdata" or not size_of(value) then
         refuse_value("a table of numbers or an array of " .. element, field, value)
      end
   end
   local function elements_of(value)
      if type(value) ~= "table" then return value, size_of(value) / unit end
      local count = length_of(value)
      for index = 1, count < most and count or most do put(index - 1, rawget(value, index)) end
      return copy, count
   end
   return check_array, elements_of, unit
end

local function check_text(field)
   return function(value)
      if type(value) ~= "string" then refuse_value("a string", field, value) end
   end
end

local function same(value) return value end

-- The function that logs an event with texts, arrays or more than four fields. The words of the fields are
-- stored in an image of the payload, C copies texts and arrays behind them, and one more call logs it. Its
-- code is made for these fields, so that LuaJIT compiles it without loops and without tables of arguments. From
-- the first word on nothing is allocated: the collector may call a finalizer, which may log with this function.
local function payload_logger(writer, event, fields)
   local count, names, check, elements = #fields, {}, {}, {}
   local parameters, given, checks, stores = {}, {}, {}, {}
   local words = ffi.new "int64_t[191]"
   local doubles, floats = ffi.cast("double *", words), ffi.cast("float *", words)
   local types, marked, has_data = ffi.new("uint8_t[?]", count + 1), 0ULL, false
   for index, field in ipairs(fields) do
      local kept
      names[index], parameters[index] = field.name, "v" .. index
      -- NULL is equal to nil, and an address.
      given[index] = (field.type == C.TIMELINE_PTR and 'type(v%d) == "nil"' or "v%d == nil"):format(index)
      types[index - 1] = field.type
      if field.type >= C.TIMELINE_ARRAY_OF then
         check[index], elements[index], kept = array_of(field)
         stores[index] = ("from, size = elements%d(v%d) at = put_array(words, %d, at, most, from, size, %d)"):format(index,
            index, index - 1, kept)
      elseif field.type >= C.TIMELINE_STR then
         check[index] = check_text(field)
         if field.type == C.TIMELINE_ISTR then marked = marked + 2ULL ^ (index - 1) end
         stores[index] = ("at = put_text(words, %d, at, most, v%d, #v%d)"):format(index - 1, index, index)
      elseif field.type == C.TIMELINE_F64 then
         check[index] = float_of(field, same)
         stores[index] = ("doubles[%d] = w%d"):format(index - 1, index)
      elseif field.type == C.TIMELINE_F32 then
         -- The other half of the word stays zero.
         check[index] = float_of(field, same)
         stores[index] = ("floats[%d] = w%d"):format(2 * index - 2, index)
      else
         check[index] = (CONVERTERS[field.type] or integer_of)(field)
         stores[index] = ("words[%d] = w%d"):format(index - 1, index)
      end
      local word = field.type < C.TIMELINE_STR and ("local w%d = "):format(index) or ""
      has_data = has_data or word == ""
      checks[index] = ("%scheck%d(v%d)"):format(word, index, index)
      -- The less is called, the shorter the trace: a number is stored as it is, or as natural_of does it, and an integer
      -- of C is known by a function that all fields share.
      local is_float = field.type == C.TIMELINE_F64 or field.type == C.TIMELINE_F32
      local natural = NATURALS[field.type]
      local inline
      if natural then check[index] = natural(field) end
      if natural == integer_of or word ~= "" and not CONVERTERS[field.type] then
         inline = 'if type(vN) ~= "number" then if not is_integer(vN) then checkN(vN) end'
      elseif is_float then
         inline = 'if type(vN) ~= "number" then if is_integer(vN) then wN = as_number(vN) else checkN(vN) end'
      elseif natural then
         inline = 'if type(vN) ~= "number" then wN = checkN(vN)'
      end
      if inline then
         if natural then inline = inline .. " elseif vN >= 2^63 and vN < 2^64 then wN = vN - 2^64" end
         checks[index] = ("local wN = vN " .. inline .. " end"):gsub("N", index)
      end
   end
   local function refuse_count(...)
      local given = select("#", ...)
      while given > 0 and type((select(given, ...))) == "nil" do given = given - 1 end
      if given ~= count then refused_count(names, given > count and "more" or given) end
   end
   -- A function has at most sixty values from outside, so those of many fields are in tables.
   local outside = {}
   for index = 1, count do
      if count <= 20 then
         outside[#outside + 1] = ("local check%d, elements%d = check[%d], elements[%d]"):format(index, index, index, index)
      else
         checks[index] = checks[index]:gsub("check%d+", ("check[%d]"):format(index))
         stores[index] = stores[index]:gsub("elements%d+%(", ("elements[%d]("):format(index))
      end
   end
   local log, last = C.timeline_log_payload, "0"
   if marked ~= 0 then log, last = C.timeline_log_interned, "types, marked" end
   local source = ([[
      local writer, event, check, elements, refuse_count, is_integer, as_number, words, doubles, floats, log, put_text,
         put_array, types, marked, most, nothing = ...
      local type = type
      %s
      return function(%s, more)
         if more ~= nil or %s then refuse_count(%s, more) end
         %s
         local tl = writer[0]
         if tl == nil then return end
         %s
         local at, from, size = %d
         %s
         log(tl, event, words, at, %s)
      end]]):format(table.concat(outside, "\n"), table.concat(parameters, ", "),
      table.concat(given, " or "), table.concat(parameters, ", "), table.concat(checks, "\n"),
      -- Without a call, LuaJIT would take the load out of a loop, which would never see the level change. Event 0
      -- is not logged.
      has_data and "if tl.enabled[event] == 0 then nothing(tl, 0, 0, 0, 0, 0) return end" or "", count,
      table.concat(stores, "\n"), last)
   return assert(loadstring(source, "=timeline"))(writer, event, check, elements, refuse_count, is_integer, as_number,
      words, doubles, floats, log, C.timeline_put_text, C.timeline_put_array, types, marked, writer[0].payload / 8,
      timeline_log)
end

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
   local function check(condition, what, wanted, got)
      if not condition then
         error(("timeline: expected %s as %s, got %s"):format(wanted, what, shown(got)), 4)
      end
   end
   check(is_text(category), "category", "a string without NUL", category)
   check(type(priority) == "string" and PRIORITIES[priority], "priority", A_PRIORITY, priority)
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

-- Defines an event and returns the function that logs it. That function takes one integer for each
-- $name on the message's first line: numbers (fractions are cut off), int64_t or uint64_t, true and
-- false as 1 and 0. A type behind the name, as in $ratio:f64, $ok:bool, $key:char or
-- $color:enum(red=1,green=2), lets it take numbers with fractions, booleans, a character, or a name
-- of the enum. $at:ptr takes a pointer as well. $name:str and $name:istr take a string, and $name:u16[] a table of numbers or an array of FFI with such
-- elements. There are at most 64 arguments. Any other argument, and a wrong number of them, raises an error at the caller's line,
-- also while the event is disabled. `attributes` is a table or nil: { channels = 'itv|bbc' } lets the
-- event be logged only while both channels are on; 'itv=on' is on unless somebody switches it off.
-- With important = true, the events are kept when the ring is overwritten, and readers get them first.
function timeline.define(tl, category, priority, message, attributes)
   expect_timeline(tl)
   expect_open(tl)
   expect_definition(category, priority, message, attributes)
   local found, status = fields_of(message)
   if not found then return failed(status) end
   local event = ffi.new "uint32_t[1]"
   status = C.timeline_define_with(tl.writer[0], category, PRIORITIES[priority], message, attributes_of(attributes), event)
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

-- Reading ------------------------------------------------------------------------------------

-- Prints the newest `maxentries` events (all when nil), newest first, on standard output. `source`
-- is a timeline, the path of one, or a snapshot.
function timeline.dump(source, maxentries)
   if is_timeline(source) then
      expect_open(source)
      source = source.path
   end
   if not is_text(source) then expect_timeline(source, "a timeline or a path") end
   expect(maxentries == nil or is_size(maxentries), "maxentries", "a positive integer or nil", maxentries)
   -- The library writes to the descriptor, so Lua's buffered output must go first.
   io.stdout:flush()
   return done(C.timeline_dump(source, maxentries or 0, 1))
end

local Attached = { __tostring = described "attached" }
Attached.__index = Attached

-- Attaches to `source` for reading only: a timeline, the path of one, NAME.prev or a snapshot.
function timeline.attach(source)
   if is_timeline(source) then
      expect_open(source)
      source = source.path
   end
   if not is_text(source) then expect_timeline(source, "a timeline or a path") end
   local out = ffi.new("timeline_attached_t *[1]")
   local status = C.timeline_attach(source, out)
   if status ~= OK then return failed(status) end
   local handle = handle_of(out, C.timeline_attached_free)
   return setmetatable({ path = source, handle = handle, cursors = dependants() }, Attached)
end

-- Unmaps the timeline now, not when it is collected. Its cursors are closed with it, and those
-- texts and arguments of its events that were not read before are lost. A second close does nothing.
function Attached:close()
   if self.closed then return end
   self.closed = true
   close_all(self.cursors)
   C.timeline_attached_free(ffi.gc(self.handle, nil))
   self.handle = nil
end

-- From 2^53 on, a Lua number cannot hold every integer, so a cdata does.
local EXACT, EXACT_NATURAL = 2LL ^ 53, 2ULL ^ 53

local function signed(value)
   if value > -EXACT and value < EXACT then return tonumber(value) end
   return value
end

local function unsigned(value)
   if value < EXACT_NATURAL then return tonumber(value) end
   return value
end

-- LuaJIT keeps the types of its values in bits that a NaN leaves free, and does not look at the bits of a number that it
-- reads from memory. So a NaN is recognised by its bits. It would be a value of any type.
local function is_nan64(words, index)
   local high = words[2 * index + 1]
   return band(high, 0x7ff00000) == 0x7ff00000 and (band(high, 0xfffff) ~= 0 or words[2 * index] ~= 0)
end

local function is_nan32(words, index)
   local word = words[index]
   return band(word, 0x7f800000) == 0x7f800000 and band(word, 0x7fffff) ~= 0
end

-- By the type of the elements. Compiled code makes no types.
local FIRST = {}
for kind, element in pairs(ELEMENTS) do FIRST[kind] = ffi.typeof("const $ *", ffi.typeof(element)) end

local function elements_of(raw)
   local kind = raw.type - C.TIMELINE_ARRAY_OF
   local first, elements = ffi.cast(FIRST[kind], raw.data), {}
   local exact = kind == C.TIMELINE_U64 and unsigned or kind == C.TIMELINE_I64 and signed
   local is_nan = kind == C.TIMELINE_F64 and is_nan64 or kind == C.TIMELINE_F32 and is_nan32
   local words = ffi.cast("const uint32_t *", raw.data)
   for index = 0, raw.count - 1 do
      if is_nan and is_nan(words, index) then elements[index + 1] = 0 / 0
      elseif exact then elements[index + 1] = exact(first[index])
      else elements[index + 1] = first[index] end
   end
   return elements
end

-- By kind: the value as Lua has it.
local READ = {
   [C.TIMELINE_IS_NULL] = function() return nil end,
   [C.TIMELINE_IS_SIGNED] = function(raw)
      if raw.type == C.TIMELINE_BOOL then return raw.integer ~= 0 end
      return signed(raw.integer)
   end,
   [C.TIMELINE_IS_UNSIGNED] = function(raw) return unsigned(raw.natural) end,
   [C.TIMELINE_IS_FLOAT] = function(raw) return raw.number end,
   [C.TIMELINE_IS_LONG_DOUBLE] = function(raw) return raw.number end,
   [C.TIMELINE_IS_TEXT] = function(raw) return ffi.string(raw.data, raw.count) end,
   [C.TIMELINE_IS_ARRAY] = elements_of,
}

-- LuaJIT compiles no allocation of more than 128 bytes, nor of a size that it learns only then. So what C fills is
-- kept, and taken by who uses it until it is given back. Whoever finds it taken makes its own: a finalizer, which may run
-- at any allocation and read another event, or the next one after an error.
local Values, Raw, Buffer = ffi.typeof "timeline_event_value_t[?]", ffi.typeof "timeline_event_t", ffi.typeof "char[?]"
local kept_values, kept_room, kept_raw, kept_buffer, kept_size = nil, 0, nil, nil, 0

local function more_values(raw, status, counted)
   repeat
      if status ~= OK then error(ffi.string(C.timeline_last_error()), 3) end
      local room = counted[0]
      local values = Values(room)
      status = C.timeline_values(raw, values, room, counted)
      if status == OK and counted[0] <= room then return values, counted[0], room end
   until false
end

-- The values of an event, how many there are, and how many have room. They are to be given back. What a loop over events
-- calls has no loop of its own where there are few values, so that the loop over events becomes one of machine code.
local function values_of(raw)
   local values, room = kept_values, kept_room
   kept_values = nil
   if not values then values, room = Values(8), 8 end
   local counted = ffi.new "uint32_t[1]"
   local status = C.timeline_values(raw, values, room, counted)
   if status == OK and counted[0] <= room then return values, counted[0], room end
   return more_values(raw, status, counted)
end

local function give_back(values, room)
   kept_values, kept_room = values, room
end

-- The fields of an event, each computed when it is first read.
local fields = {
   event = function(raw) return raw.event end,
   core = function(raw) return raw.core end,
   node = function(raw) return raw.node end,
   tid = function(raw) return raw.tid end,
   pid = function(raw) return raw.pid end,
   ticks = function(raw) return raw.ticks end, -- uint64_t
   unix_nanos = function(raw) return raw.unix_nanos end, -- uint64_t
   time = function(raw) return tonumber(raw.unix_nanos) / 1e9 end, -- seconds since 1970
   priority = function(raw) return PRIORITIES[raw.priority] end,
   thread = function(raw) return ffi.string(raw.thread) end,
   group = function(raw) return raw.group[0] ~= 0 and ffi.string(raw.group) or nil end,
   process = function(raw) return ffi.string(raw.process) end,
   missed = function(raw) return tonumber(raw.missed) end, -- entries of its lane, before it
   important = function(raw) return raw.important end, -- kept when the ring is overwritten
   line = function(raw) return raw.line ~= 0 and raw.line or nil end, -- of the call site, if known
   backtrace = function(raw) -- return addresses, uint64_t, innermost first
      local addresses = {}
      for index = 1, raw.backtrace_count do addresses[index] = raw.backtrace[index - 1] end
      return addresses
   end,
}

local function value_at(values, place)
   local raw = values[place]
   -- No tail call: of those, a trace has few.
   local value = READ[raw.kind](raw)
   return value
end

local function read_many(args, values, count)
   for place = 8, count - 1 do args[place + 1] = value_at(values, place) end
end

local function read_rest(args, values, count)
   args[5] = value_at(values, 4)
   if count > 5 then args[6] = value_at(values, 5) end
   if count > 6 then args[7] = value_at(values, 6) end
   if count > 7 then args[8] = value_at(values, 7) end
   if count > 8 then read_many(args, values, count) end
end

-- These texts, and the message that the arguments need, belong to the attached timeline.
local texts = {
   -- The values, with their number in n: one that was NULL is nil.
   args = function(raw)
      local values, count, room = values_of(raw)
      local args = { n = count }
      if count > 0 then args[1] = value_at(values, 0) end
      if count > 1 then args[2] = value_at(values, 1) end
      if count > 2 then args[3] = value_at(values, 2) end
      if count > 3 then args[4] = value_at(values, 3) end
      if count > 4 then read_rest(args, values, count) end
      give_back(values, room)
      return args
   end,
   -- By number: true for a text or an array that was cut, because there was no room for all of it.
   cut = function(raw)
      local values, count, room = values_of(raw)
      local cut = {}
      for index = 1, count do cut[index] = values[index - 1].cut or nil end
      give_back(values, room)
      return cut
   end,
   category = function(raw) return ffi.string(raw.category) end,
   message = function(raw) return ffi.string(raw.message) end, -- as defined, all its lines
   file = function(raw) return raw.line ~= 0 and ffi.string(raw.file) or nil end,
   channels = function(raw) return raw.channels[0] ~= 0 and ffi.string(raw.channels) or nil end, -- "itv|bbc"
}

local needed = ffi.new("size_t[1]")

local function render_more(ev, status)
   repeat
      if status ~= OK then error(ffi.string(C.timeline_last_error()), 2) end
      local size = tonumber(needed[0]) + 1
      local buffer = Buffer(size)
      status = C.timeline_render(ev.raw, buffer, size, needed)
      local length = tonumber(needed[0])
      if status == OK and length < size then
         local text = ffi.string(buffer, length)
         kept_buffer, kept_size = buffer, size
         return text
      end
   until false
end

-- tostring(ev): the message with its arguments, "processed tcp(10), udp(20), and other(3)"; for an
-- event of TIMELINE_PRINTF, exactly what printf would have written.
local function render(ev)
   expect_open(ev.attached)
   local buffer, size = kept_buffer, kept_size
   kept_buffer = nil
   if not buffer then buffer, size = Buffer(1024), 1024 end
   local status = C.timeline_render(ev.raw, buffer, size, needed)
   local length = tonumber(needed[0])
   if status ~= OK or length >= size then return render_more(ev, status) end
   local text = ffi.string(buffer, length)
   kept_buffer, kept_size = buffer, size
   return text
end

local Event = {
   __tostring = render,
   __index = function(ev, name)
      local field = fields[name]
      if texts[name] then
         expect_open(ev.attached)
         field = texts[name]
      end
      local value = field and field(ev.raw)
      rawset(ev, name, value)
      return value
   end,
}

local Cursor = { __tostring = described "cursor of" }
Cursor.__index = Cursor

local Event_pointer = ffi.typeof "const timeline_event_t *"
local Bytes, Addresses = ffi.typeof "const uint8_t *", ffi.typeof "const uint64_t *"
local EVENT_SIZE = ffi.sizeof(Raw)

-- The next event, or nil at the end (when following: when there is no new event).
function Cursor:__call()
   expect_open(self)
   local raw = kept_raw or Raw()
   kept_raw = nil
   local status = C.timeline_next(self.handle, raw)
   if status == OK then
      -- The texts of `raw` belong to the attached timeline, so the event holds that. Payload and backtrace belong to the
      -- cursor until the next event, so they are copied, and so is the event: as strings, which compiled code can make.
      local payload = ffi.string(raw.payload, raw.payload_size)
      local backtrace = ffi.string(raw.backtrace, 8 * raw.backtrace_count)
      -- Without a payload, the words of the event are its values.
      if raw.payload_size > 0 then raw.payload = ffi.cast(Bytes, payload) end
      if raw.backtrace_count > 0 then raw.backtrace = ffi.cast(Addresses, backtrace) end
      local all = ffi.string(raw, EVENT_SIZE)
      kept_raw = raw
      return setmetatable({ raw = ffi.cast(Event_pointer, all), attached = self.attached, all = all,
         payload = payload, addresses = backtrace }, Event)
   end
   kept_raw = raw
   if status ~= END then
      error(ffi.string(C.timeline_last_error()), 2)
   end
end

-- How many entries were overwritten before they were read. An event takes one, an event with a
-- payload several, and entries that fill up a chunk count as well.
function Cursor:missed()
   expect_open(self)
   return tonumber(C.timeline_missed(self.handle))
end

-- Ends the walk and releases what it holds. A second close does nothing.
function Cursor:close()
   if self.closed then return end
   self.closed = true
   C.timeline_cursor_free(ffi.gc(self.handle, nil))
   self.handle = nil
end

local function cursor(at, open, where)
   local out = ffi.new("timeline_cursor_t *[1]")
   local status = open(at.handle, where, out)
   if status ~= OK then return failed(status) end
   local handle = handle_of(out, C.timeline_cursor_free)
   local made = setmetatable({ path = at.path, attached = at, handle = handle }, Cursor)
   at.cursors[made] = true
   return made
end

local ORDERS = { oldest = C.TIMELINE_OLDEST_FIRST, newest = C.TIMELINE_NEWEST_FIRST }
local STARTS = { oldest = C.TIMELINE_FROM_OLDEST, now = C.TIMELINE_FROM_NOW }

-- for ev in at:events("oldest") do print(ev.time, ev) end
function Attached:events(order)
   expect_open(self)
   local where = ORDERS[order or "oldest"]
   expect(where, "order", "oldest or newest", order)
   return cursor(self, C.timeline_events, where)
end

-- local new = at:follow() -- from now on; at:follow("oldest") begins with the oldest event while
-- running do for ev in new do print(ev) end end
function Attached:follow(start)
   expect_open(self)
   local where = STARTS[start or "now"]
   expect(where, "start", "now or oldest", start)
   return cursor(self, C.timeline_follow, where)
end

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

timeline.version = ffi.string(C.timeline_version())

return timeline
