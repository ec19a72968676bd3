# find_package(timeline): the targets timeline::timeline (shared), timeline::static, timeline::worker and
# timeline::analysis (shared, each beside either of them).
get_filename_component(_timeline_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET timeline::timeline)
  add_library(timeline::timeline SHARED IMPORTED)
  set_target_properties(timeline::timeline PROPERTIES
    IMPORTED_LOCATION "${_timeline_prefix}/lib/libtimeline.so.@VERSION@"
    IMPORTED_SONAME "libtimeline.so.@SOVERSION@"
    INTERFACE_INCLUDE_DIRECTORIES "${_timeline_prefix}/include")

  add_library(timeline::static STATIC IMPORTED)
  set_target_properties(timeline::static PROPERTIES
    IMPORTED_LOCATION "${_timeline_prefix}/lib/libtimeline.a"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m"
    INTERFACE_INCLUDE_DIRECTORIES "${_timeline_prefix}/include")

  add_library(timeline::worker SHARED IMPORTED)
  set_target_properties(timeline::worker PROPERTIES
    IMPORTED_LOCATION "${_timeline_prefix}/lib/libtimeline-worker.so.@VERSION@"
    IMPORTED_SONAME "libtimeline-worker.so.@SOVERSION@"
    INTERFACE_INCLUDE_DIRECTORIES "${_timeline_prefix}/include")

  add_library(timeline::analysis SHARED IMPORTED)
  set_target_properties(timeline::analysis PROPERTIES
    IMPORTED_LOCATION "${_timeline_prefix}/lib/libtimeline-analysis.so.@VERSION@"
    IMPORTED_SONAME "libtimeline-analysis.so.@SOVERSION@"
    INTERFACE_INCLUDE_DIRECTORIES "${_timeline_prefix}/include")
endif()

unset(_timeline_prefix)
