-- Logging compiles: each kind of closure becomes machine code, and nothing in it is beyond the compiler.
local timeline = require "timeline"
local jutil = require "jit.util"
local vmdef = require "jit.vmdef"
local name = arg[1]

local tl = assert(timeline.new(name, 1024))
local loggers = {
   [0] = assert(tl:define("test", "info", "none")),
   assert(tl:define("test", "info", "$a")),
   assert(tl:define("test", "info", "$a $b")),
   assert(tl:define("test", "info", "$a $b $c")),
   assert(tl:define("test", "info", "$a $b $c $d")),
}
-- The same with an event that is off.
assert(tl:priority("info"))
local off = assert(tl:define("test", "packet", "$a $b"))

local traces, refused = 0, {}

-- Whether a loop calls C. What it loads may else be taken out of it.
local function calls(trace)
   for ref = 1, jutil.traceinfo(trace).nins do
      local _, kind = jutil.traceir(trace, ref)
      local op = kind and 6 * math.floor(kind / 256)
      if op and vmdef.irnames:sub(op + 1, op + 6) == "CALLXS" then return true end
   end
   return false
end

local function watch(what, trace, func, pc, code, reason)
   if what == "stop" then
      traces = traces + 1
      -- What cannot be compiled is called by the interpreter in between.
      local linktype = jutil.traceinfo(trace).linktype
      if linktype == "stitch" then
         refused[#refused + 1] = "a trace ends in a call that is not compiled"
      elseif linktype == "loop" and not calls(trace) then
         refused[#refused + 1] = "a loop calls nothing, so it would not see the level change"
      end
   elseif what == "abort" then
      -- Other attempts end because they began at an unlucky place, such as in a function that the
      -- logging one calls; those are repeated elsewhere.
      local why = vmdef.traceerr[code]
      local began_inside = why:find("return to lower frame", 1, true)
      if why:find("NYI") and not began_inside or why:find("blacklisted") or why:find("disabled") then
         refused[#refused + 1] = ("line %d: " .. why):format(
            jutil.funcinfo(func, pc).currentline or 0, reason or 0)
      end
   end
end

-- Where LuaJIT begins its traces depends on addresses. It may be an unlucky place now and then, but not five times.
local function run(body)
   for _ = 1, 5 do
      traces, refused = 0, {}
      jit.flush()
      jit.attach(watch, "trace")
      body()
      jit.attach(watch)
      if #refused == 0 and traces > 0 then return end
   end
   assert(#refused == 0, table.concat(refused, "\n"))
   error("nothing was compiled")
end

run(function() local f = loggers[0] for _ = 1, 20000 do f() end end)
run(function() local f = loggers[1] for i = 1, 20000 do f(i) end end)
run(function() local f = loggers[2] for i = 1, 20000 do f(i, i) end end)
run(function() local f = loggers[3] for i = 1, 20000 do f(i, i, i) end end)
run(function() local f = loggers[4] for i = 1, 20000 do f(i, i, i, i) end end)
run(function() for i = 1, 20000 do off(i, i) end end)
local typed = {
   assert(tl:define("test", "info", "$a:f64")),
   assert(tl:define("test", "info", "$a:f64 $b:bool $c:enum(red=1,green=2) $d")),
   assert(tl:define("test", "packet", "$a:f64 $b:f32")),
}
local payloads = {
   assert(tl:define("test", "info", "$a $b:f64 $c:str")),
   assert(tl:define("test", "info", "$a $b $c $d $e $f")),
   assert(tl:define("test", "packet", "$a:str")),
}
run(function() local f = payloads[1] for i = 1, 20000 do f(i, i * 0.5, "a text") end end)
run(function() local f = payloads[2] for i = 1, 20000 do f(i, i, i, i, i, i) end end)
run(function() local f = payloads[3] for i = 1, 20000 do f("never") end end)
local ffi = require "ffi"
local pointers = { assert(tl:define("test", "info", "$a:ptr")), assert(tl:define("test", "info", "$a:ptr $b:ptr $c:str")) }
local null, address = ffi.cast("void *", 0), ffi.cast("const char *", 0x7f0012345678)
run(function() local f = pointers[1] for _ = 1, 20000 do f(address) end end)
run(function() local f = pointers[1] for _ = 1, 20000 do f(null) end end)
run(function() local f = pointers[2] for _ = 1, 20000 do f(address, null, "a text") end end)
run(function() local f = typed[1] for i = 1, 20000 do f(i * 0.5) end end)
run(function() local f = typed[2] for i = 1, 20000 do f(i * 0.5, i > 5, "green", i) end end)
run(function() local f = typed[3] for i = 1, 20000 do f(i, 0.25) end end)
-- Integers of C, which are looked at more closely.
run(function() local f = loggers[2] for i = 1, 20000 do f(1LL * i, 2ULL * i) end end)
run(function() for i = 1, 20000 do off(1LL * i, i % 2 == 0) end end)

-- Spans.
local begin, done = assert(tl:define_span("test", "info", "span $a"))
local begin_text, done_text = assert(tl:define_async_span("test", "info", "span $key $text:str"))
local begin_off, done_off = assert(tl:define_span("test", "packet", "span off"))
run(function() for i = 1, 20000 do begin(i) done(i) end end)
run(function() for i = 1, 20000 do begin_text(i, "a text") done_text(i, "a text") end end)
run(function() for _ = 1, 20000 do begin_off() done_off() end end)

-- Loops with many values. Whether the loop itself is compiled, and the loggers not only each for itself, shows where the
-- trace began.
local function compiles_loop(body, in_parts)
   local why
   for _ = 1, 5 do
      local began, looped = {}, false
      local function watch_loop(what, trace, func, _, code)
         if what == "start" then
            began[trace] = func
         elseif what == "stop" then
            looped = looped or began[trace] == body and (in_parts or jutil.traceinfo(trace).linktype == "loop")
         elseif what == "abort" and began[trace] == body then
            why = vmdef.traceerr[code]
         end
      end
      jit.flush()
      jit.attach(watch_loop, "trace")
      body()
      jit.attach(watch_loop)
      if looped then return end
   end
   error("the loop is not compiled: " .. tostring(why), 2)
end

-- Sixteen calls of one function.
local function sixteen(log)
   return function(a, b, c, d)
      log(a, b, c, d) log(a, b, c, d) log(a, b, c, d) log(a, b, c, d)
      log(a, b, c, d) log(a, b, c, d) log(a, b, c, d) log(a, b, c, d)
      log(a, b, c, d) log(a, b, c, d) log(a, b, c, d) log(a, b, c, d)
      log(a, b, c, d) log(a, b, c, d) log(a, b, c, d) log(a, b, c, d)
   end
end
for _, message in ipairs { "$x:f64 $y:f64 $z:f64 $t:f64", "$x:f32 $y:f32 $z:f32 $t:f32", "$x:f64 $y:f32 $z:f64 $t:str" } do
   local log, text = sixteen(assert(tl:define("test", "info", message))), message:find "str" and "a text" or 4
   compiles_loop(function() for i = 1, 10000 do log(i * 0.5, i, 2LL, text) end end)
end
for _, count in ipairs { 16, 64 } do
   for _, kind in ipairs { "f64", "f32", "u64" } do
      local many = {}
      for i = 1, count do many[i] = ("$a%d:%s"):format(i, kind) end
      local log = assert(tl:define("test", "info", table.concat(many, " ")))
      local pass = assert(loadstring("local log = ... return function(v) log(" .. ("v, "):rep(count - 1) .. "v) end"))(log)
      compiles_loop(function() for i = 1, 10000 do pass(kind == "u64" and 5LL or i * 0.5) end end)
   end
end
local naturals = sixteen(assert(tl:define("test", "info", "$a:u64 $b:ptr $c:hex $d:flags(x=1)")))
compiles_loop(function() for i = 1, 10000 do naturals(5ULL, address, 1LL * i, 2ULL) end end)
local off_texts = sixteen(assert(tl:define("test", "packet", "$a $b $c $d:str")))
compiles_loop(function() for i = 1, 10000 do off_texts(i, i, i, "never") end end)
local bytes, short_list = ffi.new "uint8_t[64]", ffi.new "double[2]"
local arrays = sixteen(assert(tl:define("test", "info", "$a:u8[] $b:f64[] $c:u8[] $d")))
compiles_loop(function() for i = 1, 10000 do arrays(bytes, short_list, bytes, i) end end)

-- Arrays whose type does not tell their size. LuaJIT does not compile what asks for it, only what is around that.
local buffer, chars = ffi.new("uint8_t[?]", 60), ffi.new("char[?]", 60)
local got = assert(tl:define("test", "info", "got $n $a:u8[] $b:str $c:u8[]"))
compiles_loop(function() for i = 1, 10000 do got(i, buffer, "a text", chars) end end)
compiles_loop(function() for i = 1, 10000 do got(i, ffi.new("uint8_t[?]", i % 100), "a text", chars) end end, true)

-- Compiled calls log like interpreted ones, and a level set in the middle of a compiled loop counts.
local f = assert(tl:define("test", "packet", "late $a"))
for i = 1, 2000 do
   if i == 1501 then assert(tl:priority("all")) end
   f(i)
end
local total = 0
for event in assert(timeline.attach(name)):events("newest") do
   if event.message ~= "late $a" then break end
   assert(event.args[1] == 2000 - total)
   total = total + 1
end
assert(total == 500, total)

-- Every trace that logs ends in a call of C, not in a fall back to the interpreter.
local calls = 0
for trace = 1, 1000 do
   local info = jutil.traceinfo(trace)
   if not info then break end
   for ref = 1, info.nins do
      local _, op = jutil.traceir(trace, ref)
      local opcode = op and math.floor(op / 256)
      local at = opcode and opcode * 6 + 1
      if at and vmdef.irnames:sub(at, at + 5) == "CALLXS" then calls = calls + 1 end
   end
end
assert(calls >= 7, calls .. " calls of C in the compiled code")

-- What walks over the call stack goes no further than to compiled code, whose unwind tables do not lead on: libgcc
-- would end the program.
local C, words = ffi.load(os.getenv "TIMELINE_LIBRARY"), ffi.new "uint64_t[33]"
local shortest, longest = 33, 0
for i = 1, 500 do
   local count = tonumber(C.timeline_backtrace(tl.writer[0], nil, words, 33))
   assert(tonumber(words[0]) == count - 1)
   shortest, longest = math.min(shortest, count), math.max(longest, count)
end
assert(shortest >= 2 and longest > shortest, shortest .. " to " .. longest)
for i = 1, 500 do assert(tl:define("test", "info", "$a:ptr")) end

-- Loops over events: whatever they read, each becomes one loop of machine code.
for round = 1, 400 do
   loggers[2](round, -round)
   begin_text(round, "a text")
end
local at = assert(timeline.attach(name))
local function reading(each)
   compiles_loop(function() for event in at:events() do each(event) end end)
end
local seen = 0
reading(function() seen = seen + 1 end)
reading(function(event) seen = seen + event.core + event.time + event.tid end)
reading(function(event) seen = seen + #event.category + #event.message + #event.thread end)
reading(function(event) seen = seen + #event.args + (tonumber(event.args[1]) or 0) end)
reading(function(event) seen = seen + #tostring(event) end)
-- Events of eight values, with texts and fractions among them.
local eight = assert(tl:define("test", "info", "$a $b:f64 $c:str $d $e:u64 $f:bool $g:f32 $h"))
local follow = assert(at:follow())
for round = 1, 400 do eight(round, 0.5, "a text", -1, 2ULL, true, 1.5, round) end
compiles_loop(function()
   for event in follow do seen = seen + event.args[8] + #event.args[3] end
   follow = assert(at:follow("oldest"))
end)
assert(seen > 0)
at:close()
