# Most of a file's compile time is spent on the headers it shares with its neighbours, so files are compiled in groups, and a changed
# file still costs seconds. A group names its files relative to the tree, unlike CMake's own UNITY_BUILD, so that the compiler
# cache serves every clone. TAPEDECK_GROUP_FILES is the most that a group has: many where all is built once, few where one file is
# changed and built again.
#
# Of a target: TAPEDECK_GROUP  1 compiles each of its files by itself, with nothing precompiled
#              TAPEDECK_GROUP_ROOT  what their names are relative to, which is in its include path; the tree unless set
set(TAPEDECK_GROUP_FILES 8 CACHE STRING "How many files a group has at most")

# tapedeck_group_targets(DIRECTORY): groups the sources of every target there and below. After all of them are known.
function(tapedeck_group_targets directory)
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type MATCHES "EXECUTABLE|LIBRARY" AND NOT type STREQUAL "INTERFACE_LIBRARY")
      tapedeck_group_sources(${target})
      tapedeck_reuse_precompiled(${target})
    endif()
  endforeach()
  get_property(subdirectories DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(subdirectory IN LISTS subdirectories)
    tapedeck_group_targets(${subdirectory})
  endforeach()
endfunction()

# Files with compile options of their own stay alone.
function(tapedeck_group_sources target)
  get_target_property(size ${target} TAPEDECK_GROUP)
  get_target_property(root ${target} TAPEDECK_GROUP_ROOT)
  get_target_property(sources ${target} SOURCES)
  get_target_property(directory ${target} SOURCE_DIR)
  get_target_property(binary_directory ${target} BINARY_DIR)
  if(NOT size)
    set(size ${TAPEDECK_GROUP_FILES})
  endif()
  if(NOT root)
    set(root ${CMAKE_SOURCE_DIR})
  endif()
  set(text)
  set(members 0)
  set(number 0)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory} NORMALIZE)
    get_source_file_property(options ${source} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    if(options)
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
    if(size EQUAL 1 OR options OR NOT source MATCHES "\\.cc$")
      continue()
    endif()
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES HEADER_FILE_ONLY ON)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${root} OUTPUT_VARIABLE name)
    string(APPEND text "#include \"${name}\"\n")
    math(EXPR members "${members} + 1")
    if(members EQUAL size)
      tapedeck_add_group(${target} ${binary_directory} ${number} "${text}")
      math(EXPR number "${number} + 1")
      set(text)
      set(members 0)
    endif()
  endforeach()
  if(text)
    tapedeck_add_group(${target} ${binary_directory} ${number} "${text}")
  endif()
endfunction()

function(tapedeck_add_group target binary_directory number text)
  set(file ${binary_directory}/groups/${target}_${number}.cc)
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
  target_sources(${target} PRIVATE ${file})
endfunction()

# What nearly every file includes is precompiled, once for each set of options that changes code.
#
# Of a target: TAPEDECK_PRECOMPILED  path, off_path or tests; path unless set; NONE where its options fit none of them

# tapedeck_precompile(NAME HEADER OPTION...): precompiles deploy/cmake/HEADER.
function(tapedeck_precompile name header)
  set(source ${CMAKE_BINARY_DIR}/precompiled/${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(tapedeck_precompiled_${name} OBJECT ${source})
  target_link_libraries(tapedeck_precompiled_${name} PRIVATE tapedeck_options)
  target_compile_options(tapedeck_precompiled_${name} PRIVATE ${ARGN})
  set_target_properties(tapedeck_precompiled_${name} PROPERTIES TAPEDECK_GROUP 1)
  # In angle brackets; a path in quotes would be that of this clone, which no other's compiler cache knows.
  target_precompile_headers(tapedeck_precompiled_${name} PRIVATE <deploy/cmake/${header}>)
endfunction()

function(tapedeck_reuse_precompiled target)
  get_target_property(size ${target} TAPEDECK_GROUP)
  get_target_property(name ${target} TAPEDECK_PRECOMPILED)
  if(NOT name)
    set(name path)
  endif()
  if(NOT size EQUAL 1 AND NOT name STREQUAL "NONE")
    target_precompile_headers(${target} REUSE_FROM tapedeck_precompiled_${name})
  endif()
endfunction()
