-- Events with texts, arrays and many fields: what they say, what they refuse, and that they allocate nothing.
local ffi = require "ffi"
local timeline = require "timeline"
local name = arg[1]

local tl = assert(timeline.new(name, 4096))
local sent = tl:define("test", "info", "sent $n $ratio:f64 to $host:str")
sent(1, 0.5, "eth0")
sent(-2, 1, "")
sent(3LL, 2, ("x"):rep(25))
local six = tl:define("test", "info", "$a $b:u8 $c:hex $d:char $e:bool $f:f32")
six(1, 257, 255, "é", true, 0.1)
local arrays = tl:define("test", "info", "$raw:u8[] $list:f64[] $t:wstr")
arrays({ 1, 2, 255 }, { 0.5, -1 }, "größe")
arrays(ffi.new("uint8_t[9]", { 1, 2, 3, 4, 5, 6, 7, 8, 9 }), ffi.new("double[1]", { 2 }), "nul \0 inside")
arrays({}, {}, "")
-- An array of eight bytes is no pointer, also in a struct.
local eight = ffi.new("struct { uint8_t raw[8]; double list[1]; char *names[1]; }", { { 1, 2, 3, 4, 5, 6, 7, 8 } })
arrays(eight.raw, ffi.new("double[1]", { 3 }), "")
arrays(ffi.new("uint8_t[?]", 8), eight.list, "")

arrays(ffi.new("const char[3]", "ab"), ffi.new("double[?]", 2), "")
-- What has no room in an int64_t.
local natural = tl:define("test", "info", "$a:u64 $b:hex $c:bytes $d:flags(top=0x8000000000000000,next=0x4000000000000000)")
natural(2 ^ 64 - 2048, 0xffffffff80000000, 2 ^ 63 + 2 ^ 62, 2 ^ 63 + 2 ^ 62)
natural(-1, -1LL, 0xffffffffffffffffULL, "top")
local floats = tl:define("test", "info", "$a:f64 $b:f32")
local long_natural = tl:define("test", "info", "$a:u64 $b:ptr $c:f64 $s:str")
for _ = 1, 100 do
   floats(0xffffffffffffffffULL, 0xffffffffffffffffULL)
   long_natural(2 ^ 63, 0xffffffff80000000, 0x8000000000000000ULL, "")
end

local routed = tl:define("test", "info", "$host:istr $n:u8[] $copy:str to $other:istr")
for i = 1, 2 do
   for _, host in ipairs { "eth0", "", "größe", ("z"):rep(256), ("z"):rep(257) } do
      routed(host, { i, 2 }, "copied", "lo")
   end
end

-- What does not fit is cut, before a character of UTF-8, and says so.
local capacity = tl.writer[0].payload - 3 * 8
arrays({}, {}, "x" .. ("ä"):rep(2000))
arrays({}, { 1 }, ("y"):rep(capacity))
local long = {}
for i = 1, 3000 do long[i] = i % 256 end
arrays(long, { 1 }, "z")

local message, values = {}, {}
for i = 1, 64 do message[i], values[i] = "$a" .. i, i end
tl:define("test", "info", table.concat(message, " "))(unpack(values))

local function refused(message, ...)
   local _, why = pcall(...)
   assert(tostring(why):find(message, 1, true), tostring(why))
end
refused("expected 3 arguments ($n, $ratio, $host), got 2", sent, 1, 2)
refused("expected 3 arguments ($n, $ratio, $host), got more", sent, 1, 2, "x", 4)
refused("expected a string as $host, got 3", sent, 1, 2, 3)
refused("expected a string as $host, got 3", routed, 3, {}, "", "")
refused("expected a number as $ratio, got \"x\"", sent, 1, "x", "x")
refused("expected an integer as $n", sent, "1", 1, "x")
refused("a table of numbers or an array of uint8_t as $raw, got \"a\"", arrays, "a", {}, "")
-- Elements of another type would be read as what they are not.
for _, other in ipairs { ffi.new "uint8_t[3]", ffi.new "uint8_t[8]", ffi.new "int64_t[2]", ffi.new "float[2]",
   eight.names, eight, ffi.new "double[1][2]" } do
   refused("a table of numbers or an array of double as $list", arrays, {}, other, "")
end
for _, other in ipairs { "uint16_t[2]", "bool[2]", "int32_t[?]" } do
   refused("an array of uint8_t as $raw", arrays, ffi.new(other, 2), {}, "")
end
-- Nobody knows how long the array is that a pointer leads to.
for _, kind in ipairs { "uint8_t *", "const uint8_t *", "uint8_t * const", "void *", "uint8_t (*)[4]", "int (*)(void)" } do
   refused("an array of uint8_t as $raw", arrays, ffi.cast(kind, eight), {}, "")
end
ffi.cdef "int getpid(void);"
refused("an array of uint8_t as $raw", arrays, ffi.C.getpid, {}, "")
refused("$raw[2]", arrays, { 1, "x" }, {}, "")
-- A pointer that is NULL is equal to nil, but given.
local null, address = ffi.cast("void *", 0), ffi.cast("const char *", 0x7f0012345678)
local two = tl:define("test", "info", "$a:str $b")
refused("expected a string as $a, got cdata<void *>: NULL", two, null, 1)
refused("expected an integer as $b, got cdata<void *>: NULL", two, "x", null)
refused("expected 2 arguments ($a, $b), got 1", two, "x")
refused("expected 2 arguments ($a, $b), got 1", two, null)
local at, four = tl:define("test", "info", "$v:ptr"), tl:define("test", "info", "$n $v:ptr $w:ptr $s")
local with_text = tl:define("test", "info", "$v:ptr $s:str $w:ptr")
refused("expected 1 argument ($v), got 0", at)
refused("expected 1 argument ($v), got more", at, null, 1)
refused("expected a pointer or an integer as $v, got \"x\"", at, "x")
refused("expected a pointer or an integer as $w, got cdata<", four, 1, null, ffi.new "char[8]", 4)
refused("expected 4 arguments ($n, $v, $w, $s), got 3", four, 1, null, null)
refused("expected an integer as $n, got cdata<void *>: NULL", four, null, null, null, 1)
refused("expected 3 arguments ($v, $s, $w), got 1", with_text, null)
refused("expected a string as $s, got cdata<void *>: NULL", with_text, null, null, null)
refused("expected an integer as $n, got cdata<void *>: NULL", tl:define("test", "info", "$n"), null)
at(null)
at(address)
at(0x10)
at(-1LL)
at(ffi.cast("int (*)(void)", 0x20))
four(1, address, null, 4)
with_text(address, "x", null)
-- An error names the line that called the logger.
local open_array = ffi.new("struct { int n; uint8_t d[]; }")
local natural_at, natural_text = tl:define("test", "info", "$a:u64"), tl:define("test", "info", "$a:hex $b:flags(x=1) $s:str")
for _, call in ipairs {
   function() sent(1, 2, 3) end,
   function() natural_at "x" end,
   function() natural_text("x", 1, "") end,
   function() natural_text(1, "y", "") end,
   function() at "x" end,
   function() arrays(open_array.d, {}, "") end,
} do
   local _, where = pcall(call)
   local line = debug.getinfo(call, "S").linedefined
   assert(where:find("payload.lua:" .. line .. ": timeline: expected", 1, true), where)
end

local seen = {}
for event in assert(timeline.attach(tl)):events("oldest") do seen[#seen + 1] = tostring(event) end
for i = 1, 64 do message[i] = "a" .. i .. "(" .. i .. ")" end
local expected = {
   "sent n(1) ratio(0.5) to host(eth0)", "sent n(-2) ratio(1.0) to host()",
   "sent n(3) ratio(2.0) to host(" .. ("x"):rep(25) .. ")",
   "a(1) b(1) c(0xff) d(é) e(true) f(0.1)",
   "raw([1, 2, 255]) list([0.5, -1.0]) t(größe)",
   "raw([1, 2, 3, 4, 5, 6, 7, 8, 9]) list([2.0]) t(nul \0 inside)",
   "raw([]) list([]) t()",
   "raw([1, 2, 3, 4, 5, 6, 7, 8]) list([3.0]) t()",
   "raw([0, 0, 0, 0, 0, 0, 0, 0]) list([0.0]) t()",
   "raw([97, 98, 0]) list([0.0, 0.0]) t()",
   "a(18446744073709549568) b(0xffffffff80000000) c(12 EiB) d(top|next)",
   "a(18446744073709551615) b(0xffffffffffffffff) c(16 EiB) d(top)",
   "host(eth0) n([1, 2]) copy(copied) to other(lo)", "host() n([1, 2]) copy(copied) to other(lo)",
   "host(größe) n([1, 2]) copy(copied) to other(lo)",
   "host(" .. ("z"):rep(256) .. ") n([1, 2]) copy(copied) to other(lo)",
   "host(" .. ("z"):rep(257) .. ") n([1, 2]) copy(copied) to other(lo)",
   "host(eth0) n([2, 2]) copy(copied) to other(lo)", "host() n([2, 2]) copy(copied) to other(lo)",
   "host(größe) n([2, 2]) copy(copied) to other(lo)",
   "host(" .. ("z"):rep(256) .. ") n([2, 2]) copy(copied) to other(lo)",
   "host(" .. ("z"):rep(257) .. ") n([2, 2]) copy(copied) to other(lo)",
   "raw([]) list([]) t(x" .. ("ä"):rep((capacity - 2) / 2) .. "…)",
   "raw([]) list([1.0]) t(" .. ("y"):rep(capacity - 8) .. "…)",
   "raw([" .. table.concat(long, ", ", 1, 64) .. ", …]) list([…]) t(…)",
   table.concat(message, " "),
   "v(0x0)", "v(0x7f0012345678)", "v(0x10)", "v(0xffffffffffffffff)", "v(0x20)",
   "n(1) v(0x7f0012345678) w(0x0) s(4)", "v(0x7f0012345678) s(x) w(0x0)",
}
local both = { "a(1.8446744073709552e19) b(1.8446744e19)",
   "a(9223372036854775808) b(0xffffffff80000000) c(9.223372036854776e18) s()" }
for index = 1, 200 do table.insert(expected, 12 + index, both[2 - index % 2]) end
for index = 1, math.max(#expected, #seen) do
   assert(seen[index] == expected[index], ("%d: expected %s, got %s"):format(index, expected[index], seen[index]))
end

tl:define("test", "info", "tuned $n", { channels = "itv=on|bbc=on" })(1)
local newest = assert(timeline.attach(tl)):events("newest")()
assert(newest.channels == "itv|bbc" and newest.file == nil, newest.channels)

-- Compiled, an event allocates nothing: not in ten million.
local log_interned = tl:define("test", "info", "$n to $host:istr")
local begin, done = tl:define_span("test", "info", "span $n")
local begin_text, done_text = tl:define_async_span("test", "info", "span $n $host:str")
local raw, list = eight.raw, eight.list
local buffers, buffer, chars = tl:define("test", "info", "$raw:u8[] $list:f64[] $t:wstr of buffers"), ffi.new("double[?]", 60),
   ffi.new("char[?]", 60)
-- Each loop is a function for itself: LuaJIT would go on from the end of one compiled loop into the next one, and give
-- up there, sometimes for good.
local loops = {
   { 1e7, function(count) for i = 1, count do sent(i, i * 0.25, "a string of 14") end end },
   { 1e6, function(count) for i = 1, count do begin(i) begin_text(i, "a text") done_text(i, "another") done(i) end end },
   { 1e6, function(count) for i = 1, count do log_interned(i, "eth0") end end },
   { 1e6, function(count) for _ = 1, count do at(address) end end },
   { 1e6, function(count) for _ = 1, count do at(null) end end },
   { 1e6, function(count) for _ = 1, count do with_text(address, "x", null) end end },
   -- New arrays have the function that measures them compiled up to where it is interpreted. What logs the others is
   -- then compiled in several parts.
   { 1e6, function(count) for _ = 1, count do buffers(chars, buffer, "x") end end, function()
      for _ = 1, 500 do buffers(ffi.new("char[?]", 3), ffi.new("double[?]", 3), "x") end
   end },
   { 1e6, function(count) for _ = 1, count do arrays(raw, list, "x") end end },
   { 1e6, function(count) for _ = 1, count do buffers(chars, buffer, "x") end end },
   { 1e6, function(count) for i = 1, count do natural(2 ^ 63 + i, i, 0x8000000000000000ULL, 1) end end },
}
-- If a loop is not compiled, this says why: the number of the error in jit.vmdef.traceerr, and its subject.
local aborted = {}
jit.attach(function(what, _, _, _, code, subject)
   if what == "abort" or what == "flush" then
      aborted[#aborted + 1] = ("%s %s %s"):format(what, tostring(code), tostring(subject))
   end
end, "trace")
for number, loop in ipairs(loops) do
   local count, log, before_all = loop[1], loop[2], loop[3]
   if before_all then before_all() end
   for _ = 1, 3 do log(1000) end
   collectgarbage()
   collectgarbage "stop"
   local before = collectgarbage "count"
   log(count)
   local garbage = collectgarbage "count" - before
   assert(garbage < 16, ("the events of loop %d left %d KiB of garbage; traces: %s")
      :format(number, garbage, table.concat(aborted, "; ")))
   collectgarbage "restart"
end
timeline.unlink(name)
