-- Pairs allocations with frees, on whatever threads they are: an analysis.
--
--   luajit allocations.lua PATH...
--
-- Reads timelines, snapshots or archives whose programs log `alloc $size:u64 at $address:ptr` and
-- `free $address:ptr` in the category `mem`.
--
-- An address is used again and again, so this needs the order of events over all threads.

local analysis = require "timeline.analysis"

local ALLOC, FREE = 1, 2
-- An allocation that is not free yet, by process and address.
local open, open_count, open_bytes = {}, 0, 0
local pairs_made, elsewhere, bytes, longest, unknown = 0, 0, 0, 0, 0

local function allocated(event, place)
   local before = open[place]
   if before then
      open_count, open_bytes = open_count - 1, open_bytes - before.size
   end
   local block = { size = event.fields.size or 0, since = event.unix_nanos, tid = event.tid }
   open[place] = block
   open_count, open_bytes = open_count + 1, open_bytes + block.size
end

local function freed(event, place)
   local block = open[place]
   if not block then
      unknown = unknown + 1
      return
   end
   open[place] = nil
   open_count, open_bytes = open_count - 1, open_bytes - block.size
   pairs_made, bytes = pairs_made + 1, bytes + block.size
   local tid, now = event.tid, event.unix_nanos
   if tid and block.tid and tid ~= block.tid then elsewhere = elsewhere + 1 end
   if now and block.since and now > block.since then longest = math.max(longest, tonumber(now - block.since)) end
end

local paths = { ... }
local pass = assert(analysis.open(paths))
assert(pass:run {
   wants = { [ALLOC] = { "mem", "mem.alloc" }, [FREE] = { "mem", "mem.free" } },
   fields = { "size", "address" },
   event = function(event)
      local address = event.fields.address
      if not address then return end
      local place = (event.pid or 0) .. " " .. tostring(address)
      if event.subscription == ALLOC then allocated(event, place) else freed(event, place) end
   end,
   -- What is open may have been freed unseen, and its address may be that of another block by now.
   gap = function()
      unknown = unknown + open_count
      open, open_count, open_bytes = {}, 0, 0
   end,
})

print(("%d blocks of %d bytes were freed"):format(pairs_made, bytes))
print(("%d of them by another thread"):format(elsewhere))
print(("the longest was used for %d ns"):format(longest))
print(("%d blocks of %d bytes are still in use"):format(open_count, open_bytes))
print(("%d lack their other half"):format(unknown))
