-- A small packet processor, seen through a timeline.
--
--   luajit demo.lua NAME [BATCHES]         NAME: /timeline, or a file; BATCHES: 0 or none: for ever
--
-- It makes Ethernet frames in batches of 32, parses them and counts their protocols. It logs an
-- event for each batch, one of more detail for each frame, and a warning for an expired frame.
-- While it runs:
--
--   timeline dump NAME          timeline priority NAME info          timeline tail NAME
local ffi = require "ffi"
local here = arg[0]:match("^(.*/)") or "./"
package.path = here .. "../../lua/?.lua;" .. package.path
local timeline = require "timeline"

ffi.cdef [[
   typedef struct __attribute__((packed)) {
      uint8_t destination[6], source[6];
      uint16_t ethertype;                       // network order, like all below
      uint8_t version, service;
      uint16_t length, identification, fragment;
      uint8_t ttl, protocol;
      uint16_t checksum;
      uint32_t from, to;
      uint16_t from_port, to_port;
   } frame_t;
   int usleep(unsigned microseconds);
]]

-- Enough for some seconds, and fits into the small shared memory of a container.
local ENTRIES, STRINGS = 64 * 1024, 64 * 1024

local name, batches = arg[1], tonumber(arg[2] or 0)
if not name or not batches then
   io.stderr:write("usage: luajit demo.lua NAME [BATCHES]\n")
   os.exit(2)
end
batches = batches > 0 and batches or math.huge

-- The first program makes the timeline, the other joins it. A timeline of an earlier run is never
-- joined: it is kept as NAME.prev, and can still be read.
local tl, message = timeline.open_or_create(name, { entries = ENTRIES, stringtablesize = STRINGS })
if not tl then
   io.stderr:write("demo.lua: ", message, "\n")
   os.exit(1)
end
local processed = assert(tl:define("demo", "info", "processed $tcp, $udp, and $other"))
local parsed = assert(tl:define("demo", "packet", [[
parsed $protocol of $bytes to $port
One frame. The protocol is that of IP: 6 is TCP, 17 is UDP.]]))
local expired = assert(tl:define("demo", "warning", "dropped a frame of $bytes: its time to live was $ttl"))

local swap, rshift = bit.bswap, bit.rshift
local function network16(value) return rshift(swap(value), 16) end

local BATCH = 32
local frames = ffi.new("frame_t[?]", BATCH)
local protocols = { 6, 6, 6, 17, 17, 1 }

local function receive()
   for index = 0, BATCH - 1 do
      local frame = frames[index]
      frame.ethertype = network16(0x0800)
      frame.version = 0x45
      frame.length = network16(math.random(64, 1500))
      frame.ttl = math.random(0, 63)
      frame.protocol = protocols[math.random(#protocols)]
      frame.to_port = network16(math.random(1, 1023))
   end
end

local function process()
   local tcp, udp, other = 0, 0, 0
   for index = 0, BATCH - 1 do
      local frame = frames[index]
      local bytes = network16(frame.length)
      if frame.ttl == 0 then
         expired(bytes, frame.ttl)
      else
         parsed(frame.protocol, bytes, network16(frame.to_port))
         if frame.protocol == 6 then tcp = tcp + 1
         elseif frame.protocol == 17 then udp = udp + 1
         else other = other + 1 end
      end
   end
   processed(tcp, udp, other)
end

local done = 0
while done < batches do
   receive()
   process()
   done = done + 1
   -- A link that is not busy all the time.
   ffi.C.usleep(1000)
end
print(("%d batches of %d frames logged to %s"):format(done, BATCH, name))
