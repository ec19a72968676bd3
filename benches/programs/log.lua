-- Measures logging from LuaJIT beside the bare clock. Command line and output are those of
-- benches/peers/common.h, and --variant is the call; it has one thread.
--
--     BENCH_CLOCK=clock.so luajit [-joff] log.lua --variant V --mode loop|sustained|latency --events E --repeats R
--
-- BENCH_CLOCK is clock.c as a shared library. BENCH_RING names the timeline: joined if it exists,
-- made otherwise, and left for benches/bench.py. BENCH_WARM_UP is how many events are logged first;
-- by default, once through the ring.

local ffi = require "ffi"
local timeline = require "timeline"

ffi.cdef [[
int getpid(void);
double bench_now_ns(void);
double bench_cpu_ns(void);
void bench_clock_loop(uint64_t readings);
double bench_ns_per_tick(void);
void bench_before(void);
uint32_t bench_after(void);
void bench_sort(uint32_t *ticks, size_t count);
]]

local options = { mode = "loop", variant = "enabled4", threads = 1, events = 1000000, repeats = 5 }

local function fail(...)
   io.stderr:write("bench: ", string.format(...), "\n")
   os.exit(1)
end

for i = 1, #arg, 2 do
   local name, value = arg[i]:match("^%-%-(.*)"), arg[i + 1]
   if not options[name] or not value then fail("expected --NAME VALUE, got %s", arg[i]) end
   if type(options[name]) == "number" then
      value = tonumber(value)
      if not value or value < 1 then fail("--%s: expected a number above 0, got %s", name, arg[i + 1]) end
   end
   options[name] = value
end
if options.threads ~= 1 then fail("--threads: expected 1, got %d", options.threads) end

local clock = ffi.load(assert(os.getenv("BENCH_CLOCK"), "BENCH_CLOCK: expected the path of clock.so"))
local jit_on = jit.status()

local given = os.getenv("BENCH_RING")
local ring = given or ("/timeline-bench-%d"):format(ffi.C.getpid())
local tl = timeline.open(ring) or assert(timeline.new(ring))
local none = tl:define("bench", "trace", "nothing")
local four = tl:define("bench", "trace", "four $a $b $c $d")
local typed = tl:define("bench", "trace", "four $a:i64 $b:u32 $c:f64 $d:bool")
local mixed = tl:define("bench", "trace", "mixed $a:i64 $b:f64 $c:str")
local text = tl:define("bench", "trace", "text $a:str")
local fourteen = { [0] = "fourteen bytes", "as many others" }
local more = { [0] = "a text of 25 bytes, as it", "is asked for in each turn" }
-- Less important than the others, so that it is disabled without them.
local detail = tl:define("bench", "library", "detail $a $b $c $d")
tl:priority("app")

-- A loop of its own for each, because one loop that calls its argument is compiled for the first
-- one.
local loops = {
   enabled0 = function(events)
      for _ = 1, events do none() end
   end,
   enabled4 = function(events)
      for i = 1, events do four(i, i + 1, i + 2, i + 3) end
   end,
   event4 = function(events)
      for i = 1, events do typed(i, i + 1, i + 0.5, true) end
   end,
   event_mixed = function(events)
      for i = 1, events do mixed(i, i + 0.5, fourteen[i % 2]) end
   end,
   event_text = function(events)
      for i = 1, events do text(more[i % 2]) end
   end,
   disabled = function(events)
      for i = 1, events do detail(i, i + 1, i + 2, i + 3) end
   end,
}
local loop = loops[options.variant]
if not loop then fail("--variant: expected enabled0, enabled4, event4, event_mixed, event_text or disabled, got %s", options.variant) end

-- Nanoseconds of a turn, in wall time and in processor time.
local function timed(body, turns)
   local cpu, wall = clock.bench_cpu_ns(), clock.bench_now_ns()
   body(turns)
   return (clock.bench_now_ns() - wall) / turns, (clock.bench_cpu_ns() - cpu) / turns
end

local function loop_figures()
   local clock_ns, clock_cpu_ns = timed(clock.bench_clock_loop, options.events)
   local event_ns, event_cpu_ns = timed(loop, options.events)
   return ('"clock_ns":%.3f,"event_ns":%.3f,"clock_cpu_ns":%.3f,"event_cpu_ns":%.3f'):format(
      clock_ns, event_ns, clock_cpu_ns, event_cpu_ns)
end

local function call_figures(ns_per_tick)
   local events = options.events
   local empty, calls = ffi.new("uint32_t[?]", events, 1), ffi.new("uint32_t[?]", events, 1)
   for i = 0, events - 1 do
      clock.bench_before()
      empty[i] = clock.bench_after()
   end
   for i = 0, events - 1 do
      clock.bench_before()
      four(i, i + 1, i + 2, i + 3)
      calls[i] = clock.bench_after()
   end
   clock.bench_sort(empty, events)
   clock.bench_sort(calls, events)
   local function at(share) return calls[math.floor((events - 1) * share)] * ns_per_tick end
   return ('"p50_ns":%.2f,"p99_ns":%.2f,"p999_ns":%.2f,"p9999_ns":%.2f,"max_ns":%.2f,"clock_p50_ns":%.2f'):format(
      at(0.5), at(0.99), at(0.999), at(0.9999), at(1), empty[math.floor(events / 2)] * ns_per_tick)
end

-- So that this process has touched all pages of the ring, and until the loop is compiled.
loops.enabled4(tonumber(os.getenv("BENCH_WARM_UP") or 1048576))
loop(math.min(options.events, 10000))
local ns_per_tick = clock.bench_ns_per_tick()
for i = 0, options.repeats - 1 do
   local figures
   if options.mode == "latency" then
      figures = call_figures(ns_per_tick)
   elseif options.mode == "loop" or options.mode == "sustained" then
      figures = loop_figures()
   else
      fail("--mode: expected loop, sustained or latency, got %s", options.mode)
   end
   print(('{"peer":"timeline-luajit","mode":"%s","variant":"%s","jit":%s,"threads":1,"events":%d,"repeat":%d,"lost":null,%s}')
      :format(options.mode, options.variant, jit_on, options.events, i, figures))
end
tl:close()
if not given then assert(timeline.unlink(ring)) end
