-- Finds a shared library beside this module, in an installation or where the environment says, and loads it.

local ffi = require "ffi"

-- This file is timeline/find.lua in the folder of timeline.lua.
local here = debug.getinfo(1, "S").source:match("^@(.*[/\\])timeline[/\\]") or "./"

-- A program that has more rights than who started it (setuid) loads no library that this person names.
local function has_rights_of_its_file()
   local AT_SECURE = 23
   -- The host may have declared it already.
   pcall(ffi.cdef, "unsigned long getauxval(unsigned long type);")
   return ffi.C.getauxval(AT_SECURE) ~= 0
end

-- `built` is what cargo calls it, `name` what it is called where it is installed.
local function candidates(built, name, variable)
   local named = not has_rights_of_its_file() and os.getenv(variable)
   if named and named ~= "" then return { named } end
   local list = {
      -- The source tree: this file is lua/timeline/find.lua.
      here .. "../target/release/" .. built .. ".so",
      here .. "../target/debug/" .. built .. ".so",
   }
   -- An installed prefix: this file is PREFIX/share/lua/5.1/timeline/find.lua.
   for _, lib in ipairs { "lib/", "lib64/", "lib/x86_64-linux-gnu/", "lib/aarch64-linux-gnu/" } do
      list[#list + 1] = here .. "../../../" .. lib .. name .. ".so.0"
      list[#list + 1] = here .. "../../../" .. lib .. name .. ".so"
   end
   list[#list + 1] = here .. name .. ".so"
   for template in package.cpath:gmatch("[^;]+") do
      local path = template:gsub("?", name)
      -- The loader would search for a name without a slash, but these are files.
      list[#list + 1] = path:find("/", 1, true) and path or "./" .. path
   end
   list[#list + 1] = name .. ".so.0"
   list[#list + 1] = name .. ".so"
   return list
end

-- Loads it. Another library of that name has no such symbol.
return function(built, name, variable, symbol)
   local tried = {}
   for _, path in ipairs(candidates(built, name, variable)) do
      local ok, result = pcall(function()
         local library = ffi.load(path)
         return library[symbol] and library
      end)
      if ok then return result end
      tried[#tried + 1] = tostring(result)
   end
   error("timeline: cannot load " .. name .. ".so. Build it with make, install it with make install, "
      .. "or name it in the environment variable " .. variable .. ". Tried:\n\t"
      .. table.concat(tried, "\n\t"), 0)
end
