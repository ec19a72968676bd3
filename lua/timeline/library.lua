-- Finds libtimeline and loads it: what a module of these calls C by.

local ffi = require "ffi"

-- This file is timeline/library.lua in the folder of timeline.lua.
local here = debug.getinfo(1, "S").source:match("^@(.*[/\\])timeline[/\\]") or "./"

-- A second require (package.loaded cleared, two copies on the path) must not declare twice.
if not pcall(ffi.typeof, "timeline_event_t") then ffi.cdef(require "timeline.cdef") end

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

return load_library()
