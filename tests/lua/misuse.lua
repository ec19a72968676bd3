-- What is the program's mistake is raised at its own line; what can happen is returned as nil, message.
local timeline = require "timeline"
local name = arg[1]
local here = debug.getinfo(1, "S").short_src

local function raises(pattern, f, ...)
   local arguments, n = { ... }, select("#", ...)
   local ok, message = pcall(function()
      local result = f(unpack(arguments, 1, n))
      return result
   end)
   assert(not ok, "expected an error matching " .. pattern)
   assert(message:find(pattern), ("expected an error matching %q, got %q"):format(pattern, message))
   assert(message:find(here, 1, true) == 1, "raised elsewhere: " .. message)
end

local function fails(pattern, result, message, kind)
   assert(result == nil and message, "expected nil and a message matching " .. pattern)
   assert(type(kind) == "string", message)
   assert(message:find(pattern), ("expected a message matching %q, got %q"):format(pattern, message))
end

local tl = assert(timeline.new(name, 256, 4096))

raises("path", timeline.new)
raises("path", timeline.new, 5)
raises("path", timeline.new, "/a\0b")
raises("entries", timeline.new, name .. "x", "many")
raises("entries", timeline.new, name .. "x", 0)
raises("entries", timeline.new, name .. "x", -1)
raises("entries", timeline.new, name .. "x", 1024.5)
raises("entries", timeline.new, name .. "x", 0 / 0)
raises("power of two", timeline.new, name .. "x", 1000)
raises("stringtablesize", timeline.new, name .. "x", 1024, {})
raises("path", timeline.open, false)
raises("options", timeline.open, name, 7)
raises("path", timeline.open_or_create, nil)
raises("mode", timeline.new, name, { mode = 660 })
raises("mode", timeline.new, name, { mode = "0668" })
raises("0666", timeline.new, name, { mode = "0666" })
raises("trust_user", timeline.open_or_create, name, { trust_user = "root" })
raises("stringtablesize", timeline.open_or_create, name, { stringtablesize = 0 })
raises("trust_usr", timeline.open_or_create, name, { trust_usr = 1 })

raises("timeline", timeline.define, name, "test", "info", "m")
raises("timeline", timeline.define, {}, "test", "info", "m")
raises("category", timeline.define, tl, nil, "info", "m")
raises("priority", timeline.define, tl, "test", "loud", "m")
raises("priority", timeline.define, tl, "test", "all", "m")
raises("did you mean trace?", timeline.define, tl, "test", "debug", "m")
raises("did you mean info?", timeline.define, tl, "test", "INFO", "m")
raises("priority", timeline.define, tl, "test", 3, "m")
raises("message", timeline.define, tl, "test", "info", "nul \0 inside")
raises("message", timeline.define, tl, "test", "info", nil)
raises("UTF%-8", timeline.define, tl, "test", "info", "\xff\xfe")
raises("at most 64", timeline.define, tl, "test", "info", ("$a "):rep(65))

for _, define in ipairs { timeline.define_span, timeline.define_async_span } do
   raises("timeline", define, name, "test", "info", "m $n")
   raises("category", define, tl, nil, "info", "m $n")
   raises("priority", define, tl, "test", "loud", "m $n")
   raises("message", define, tl, "test", "info", nil)
   raises("attribute", define, tl, "test", "info", "m $n", { loud = true })
   raises("which name the span", define, tl, "test", "info", "$n")
   raises("at most 64", define, tl, "test", "info", "m " .. ("$a "):rep(65))
end
raises("which is its key", timeline.define_async_span, tl, "test", "info", "m")

raises("level", timeline.priority, tl, "loud")
raises("level", timeline.priority, tl, 3)
raises("path", timeline.load, tl)
raises("name a channel", timeline.channel, tl, "a b", true)
raises("true or false", timeline.channel, tl, "itv")
raises("name a channel", timeline.option, tl, "-trace=a b")
raises("attribute", timeline.define, tl, "test", "info", "m", { chanels = "itv" })
raises("no rule", timeline.priority, tl, "info,trace")
raises("level", timeline.priority, tl)
raises("timeline", timeline.level, nil)
raises("name, got \"a\\0b\"", timeline.thread, tl, "a\0b")
raises("group, got \"g\\0h\"", timeline.thread, tl, "a", "g\0h")
raises("seconds_for", timeline.sample, tl, "all")
raises("seconds_every", timeline.sample, tl, "all", 0.0001)
raises("seconds_for", timeline.sample, tl, "all", -1, 1)
raises("level", timeline.sample, tl, "loud", 0.0001, 0.01)
raises("file", timeline.save, tl)
raises("maxentries", timeline.dump, tl, "all")
raises("first argument", timeline.dump, 5)
raises("order", function() return assert(timeline.attach(tl)):events("sideways") end)
raises("start", function() return assert(timeline.attach(tl)):follow("newest") end)

-- A function that logs names what is wrong with its arguments, at the line of the caller: interpreted and compiled, enabled
-- and disabled.
local log = assert(tl:define("test", "info", "$a and $b\n$not one"))
local three = assert(tl:define("test", "info", "processed $tcp, $udp, and $other"))
local one, none = assert(tl:define("test", "info", "$only")), assert(tl:define("test", "info", "none"))
local four = assert(tl:define("test", "info", "$a $b_1 $C/$d$"))
for _, level in ipairs { "all", "none" } do
   assert(tl:priority(level))
   for _ = 1, 200 do
      raises("expected 3 arguments %(%$tcp, %$udp, %$other%), got 2$", three, 10, 20)
      raises("expected 3 arguments %(%$tcp, %$udp, %$other%), got 0$", three)
      raises("expected 3 arguments %(%$tcp, %$udp, %$other%), got more$", three, 10, 20, 3, 4)
      raises("expected 2 arguments %(%$a, %$b%), got 1$", log, 1)
      raises("expected 1 argument %(%$only%), got 0$", one)
      raises("expected 1 argument %(%$only%), got more$", one, 1, 2)
      raises("expected 0 arguments, got more$", none, 1)
      raises("expected 4 arguments %(%$a, %$b_1, %$C, %$d%), got 3$", four, 1, 2, 3)
      raises("expected 4 arguments .*, got more$", four, 1, 2, 3, 4, 5)
      raises("expected an integer as %$a, got \"x\"$", log, "x", 1)
      raises("expected an integer as %$a, got \"7\"$", log, "7", 1)
      raises("expected an integer as %$b, got table", log, 1, {})
      raises("expected an integer as %$udp, got nil$", three, 10, nil, 3)
      raises("expected an integer as %$d, got cdata", four, 1, 2, 3, require "ffi".new("char[2]"))
      log(1, 2LL)
      log(3ULL, true)
      three(1, 2, 3, nil)
   end
end
-- A type of FFI has a number, but is none, also where it is that of what is wanted; neither is a complex number.
local ffi = require "ffi"
local typed = assert(tl:define("test", "info", "$a:u64 $b:f64 $c:bool $d:ptr"))
local texts = assert(tl:define("test", "info", "$a $b:f64 $c:u8[] $d:str $e:ptr $f:hex"))
local int, pointer, enum = ffi.typeof "int64_t", ffi.typeof "void *", ffi.typeof "enum { A, B }"
for _ = 1, 200 do
   for _, kind in ipairs { "int", "int64_t", "uint64_t", "bool", "double" } do
      raises("expected an integer as %$only, got ctype<", one, ffi.typeof(kind))
   end
   raises("expected an integer as %$only, got 1%+2i", one, ffi.new("complex", 1, 2))
   raises("expected an integer as %$only, got 1%+2i", one, ffi.new("complex float", 1, 2))
   raises("expected an integer as %$b, got ctype<", log, 1, int)
   raises("expected an integer as %$a, got ctype<", typed, int, 1, 1, 1)
   raises("expected a number as %$b, got ctype<", typed, 1, int, 1, 1)
   raises("expected true or false as %$c, got ctype<", typed, 1, 1, int, 1)
   raises("expected a pointer or an integer as %$d, got ctype<", typed, 1, 1, 1, pointer)
   raises("expected a pointer or an integer as %$d, got ctype<", typed, 1, 1, 1, int)
   raises("expected an integer as %$a, got ctype<", texts, int, 1, {}, "", 1, 1)
   raises("expected a number as %$b, got ctype<", texts, 1, int, {}, "", 1, 1)
   raises("an array of uint8_t as %$c, got ctype<", texts, 1, 1, ffi.typeof "uint8_t[8]", "", 1, 1)
   raises("an array of uint8_t as %$c, got ctype<", texts, 1, 1, ffi.typeof "uint8_t[?]", "", 1, 1)
   raises("a number in %$c%[2%]", texts, 1, 1, { 1, int }, "", 1, 1)
   raises("a pointer or an integer as %$e, got ctype<", texts, 1, 1, {}, "", pointer, 1)
   raises("an integer as %$f, got ctype<", texts, 1, 1, {}, "", 1, int)
   -- The numbers of these types are integers like others.
   one(ffi.cast(int, tonumber(int)))
   one(ffi.new("uint64_t", tonumber(ffi.typeof "uint64_t")))
   one(ffi.new("int16_t", 5))
   one(enum(1))
end
-- The line is that of the call, not of the module.
local function line_of(f)
   local ok, message = pcall(f)
   assert(not ok)
   return tonumber(message:match(":(%d+):"))
end
local here_line = debug.getinfo(1, "l").currentline
assert(line_of(function() log(1) return 1 end) == here_line + 1)
assert(line_of(function()
   for i = 1, 1000 do
      log(i, i < 900 and i or "x")
   end
end) == here_line + 4)
assert(tl:priority("all"))

fails("in use", timeline.new(name))
fails("no", timeline.open(name .. "-absent"))
fails("no", timeline.attach(name .. "-absent"))
fails("no", timeline.dump(name .. "-absent"))
fails("no", timeline.unlink(name .. "-absent"))
fails("absent", timeline.new("/absent/directory/timeline"))
fails("absent", tl:save("/absent/directory/snapshot"))
fails("", timeline.attach(arg[0]))

-- The nil that they returned says why.
raises("expected a timeline as first argument, got nil; timeline.new%(\".*absent/directory/timeline\"%) failed: .*No such",
   timeline.define, (timeline.new("/absent/directory/timeline")), "test", "info", "m")
raises("timeline.new%(\".*\"%) failed: .*in use", timeline.dump, (timeline.new(name)))
raises("timeline.open%(\".*absent\"%) failed: ", timeline.level, (timeline.open(name .. "-absent")))
raises("got 5$", timeline.level, 5)

assert(select(3, timeline.new(name)) == "in_use")
assert(select(3, timeline.open(name .. "-absent")) == "not_found")
assert(select(3, timeline.new("/absent/directory/timeline")) == "io")
assert(select(3, timeline.attach(arg[0])) == "not_a_timeline")

-- A full string table fails one definition and spoils none.
local long = ("x"):rep(1000)
local full, message, kind
for number = 1, 10 do
   full, message, kind = tl:define("test", "info", long .. number)
   if not full then break end
end
fails("", full, message, kind)
assert(kind == "full")
log(1, 2)
local last = assert(timeline.attach(tl)):events("newest")()
assert(tostring(last) == "a(1) and b(2)")
