//! timeline: a flight recorder for native and LuaJIT programs.
