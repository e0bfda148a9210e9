# Language level, warnings, sanitizers and the packages every room links.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")
# What no block passes needs to be compiled soon, not to be fast. With sanitizers the lines are still told.
set(TAPEDECK_OFF_PATH_OPTIONS "$<$<CONFIG:RelWithDebInfo>:-O1;-g0>" "$<$<CONFIG:Sanitized>:-O0>")
# One precompiled header serves all that is compiled alike: libraries and programs, with gRPC, which asks for -pthread, and without.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-pthread>)

# What a compilation costs goes into compile.costs of the build, and what a test costs beside its results: deploy/ci/cost.py.
set(TAPEDECK_COST ${CMAKE_SOURCE_DIR}/deploy/cmake/cost.sh)
set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE "${TAPEDECK_COST} ${CMAKE_BINARY_DIR}/compile.costs <OBJECT>")
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()

if(TAPEDECK_GROUPED)
  # To g++ every file of a group but the group itself is a header, whose types must not be built of anonymous ones.
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  # g++ collects garbage from 128 MiB on, and each time reads all of the precompiled header. From 1 GiB on it takes an eighth less
  # time and a quarter more memory, 1.7 GiB for the largest group. Debug information does not say so: it is the same on all machines.
  cmake_host_system_information(RESULT mebibytes QUERY TOTAL_PHYSICAL_MEMORY)
  cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR mebibytes_each "${mebibytes} / ${processors}")
  if(mebibytes_each GREATER_EQUAL 3000)
    add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param=ggc-min-heapsize=1048576 -gno-record-gcc-switches>")
  endif()
endif()
# gold comes with binutils and takes half the time of the default. Debian's mold, 1.10, is hardly faster, never ends on some
# programs, and makes others that cannot be loaded (https://github.com/rui314/mold/issues/1151).
find_program(TAPEDECK_GOLD ld.gold)
if(TAPEDECK_GOLD)
  add_link_options(-fuse-ld=gold)
endif()

# Sanitizers take longer to start than all libraries.
if(TAPEDECK_ARCHIVES AND NOT TAPEDECK_SANITIZE)
  set_property(GLOBAL PROPERTY RULE_LAUNCH_LINK ${CMAKE_SOURCE_DIR}/deploy/cmake/archives.sh)
endif()

find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(Protobuf REQUIRED)
find_package(gRPC CONFIG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(LIBARCHIVE REQUIRED IMPORTED_TARGET libarchive>=3.6)
# The few objects of it that read tar; the shared library loads libxml2 too, and with that ICU's 33 MiB, into tapectl and its image.
find_library(TAPEDECK_LIBARCHIVE libarchive.a)
if(NOT TAPEDECK_LIBARCHIVE)
  set(TAPEDECK_LIBARCHIVE PkgConfig::LIBARCHIVE)
endif()
pkg_check_modules(PCAP REQUIRED IMPORTED_TARGET libpcap>=1.10)

# Every target of ours links this.
add_library(tapedeck_options INTERFACE)
target_include_directories(tapedeck_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(tapedeck_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra $<$<BOOL:${TAPEDECK_WERROR}>:-Werror> -Wno-missing-field-initializers>)
# At -O3 g++ 12 sees uninitialized strings where there are none.
target_compile_options(tapedeck_options INTERFACE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-Wno-error>)
# What every kernel is compiled with.
set(TAPEDECK_NVCC_OPTIONS --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra)
if(TAPEDECK_WERROR)
  list(APPEND TAPEDECK_NVCC_OPTIONS -Werror all-warnings -Xcompiler=-Werror)
endif()
target_link_libraries(tapedeck_options INTERFACE Threads::Threads)
if(TAPEDECK_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TAPEDECK_SANITIZE}> -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TAPEDECK_SANITIZE})
  # g++ warns of things that only its own instrumentation has made.
  target_compile_options(tapedeck_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-error>)
endif()

# ThreadSanitizer must be told about the locks and notifications of an Abseil that was built without it. The object is made while
# configuring, because it goes into every program as a link option.
if(TAPEDECK_SANITIZE STREQUAL "thread")
  set(tsan_absl ${CMAKE_BINARY_DIR}/tsan_absl.o)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -O1 -fsanitize=thread -c
                          ${CMAKE_SOURCE_DIR}/deploy/ci/tsan_absl.cc -o ${tsan_absl}
                  COMMAND_ERROR_IS_FATAL ANY)
  add_link_options(${tsan_absl})
  foreach(name N4absl7debian35Mutex4LockEv N4absl7debian35Mutex6UnlockEv
          N4absl7debian35Mutex5AwaitERKNS0_9ConditionE
          N4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE
          NK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE
          N4absl7debian312Notification6NotifyEv NK4absl7debian312Notification19WaitForNotificationEv)
    add_link_options(-Wl,--wrap=_Z${name})
  endforeach()
endif()

# nvcc outside PATH is still found; without it the build goes on and says so.
if(TAPEDECK_CUDA)
  find_program(TAPEDECK_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(TAPEDECK_NVCC)
    set(TAPEDECK_CUDA ON)
    set(CMAKE_CUDA_COMPILER ${TAPEDECK_NVCC})
    set(CMAKE_CUDA_ARCHITECTURES 80-virtual 90-real CACHE STRING "")
    enable_language(CUDA)
    # CMake 3.25 does not know that nvcc compiles C++20.
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    find_package(CUDAToolkit REQUIRED)
  else()
    message(STATUS "nvcc not found: building without CUDA; --device cuda:N will be refused")
    set(TAPEDECK_CUDA OFF)
  endif()
endif()

# The same for the RDMA libraries.
if(TAPEDECK_VERBS)
  find_path(TAPEDECK_IBVERBS_INCLUDE infiniband/verbs.h)
  find_path(TAPEDECK_RDMACM_INCLUDE rdma/rdma_cma.h)
  find_library(TAPEDECK_IBVERBS ibverbs)
  find_library(TAPEDECK_RDMACM rdmacm)
  if(NOT (TAPEDECK_IBVERBS_INCLUDE AND TAPEDECK_RDMACM_INCLUDE AND TAPEDECK_IBVERBS AND TAPEDECK_RDMACM))
    message(STATUS "libibverbs-dev or librdmacm-dev not found: building without verbs; verbs rails will be refused")
    set(TAPEDECK_VERBS OFF)
  endif()
endif()

# And for hwloc.
if(TAPEDECK_HWLOC)
  find_package(PkgConfig)
  if(PkgConfig_FOUND)
    pkg_check_modules(HWLOC IMPORTED_TARGET hwloc>=2.1)
  endif()
  if(NOT HWLOC_FOUND)
    message(STATUS "hwloc not found: building without it; every distance will be UNKNOWN")
    set(TAPEDECK_HWLOC OFF)
  endif()
endif()

# And for kissfft.
if(TAPEDECK_KISSFFT)
  find_package(PkgConfig)
  if(PkgConfig_FOUND)
    pkg_check_modules(KISSFFT IMPORTED_TARGET kissfft-float)
  endif()
  if(NOT KISSFFT_FOUND)
    message(STATUS "kissfft not found: building without it")
    set(TAPEDECK_KISSFFT OFF)
  endif()
endif()

# And for the HTTP library of the admin port and the console, with what it does TLS by.
if(TAPEDECK_ADMIN)
  find_package(PkgConfig)
  if(PkgConfig_FOUND)
    pkg_check_modules(MICROHTTPD IMPORTED_TARGET libmicrohttpd>=0.9.75)
    pkg_check_modules(GNUTLS IMPORTED_TARGET gnutls>=3.7)
  endif()
  if(NOT MICROHTTPD_FOUND OR NOT GNUTLS_FOUND)
    message(STATUS "libmicrohttpd or gnutls not found: building without them; --admin and --console will be refused")
    set(TAPEDECK_ADMIN OFF)
  endif()
endif()

# And for FUSE.
if(TAPEDECK_FUSE)
  find_package(PkgConfig)
  if(PkgConfig_FOUND)
    pkg_check_modules(FUSE3 IMPORTED_TARGET fuse3>=3.10)
  endif()
  if(NOT FUSE3_FOUND)
    message(STATUS "libfuse3 not found: building without it; tapectl mount will be refused")
    set(TAPEDECK_FUSE OFF)
  endif()
endif()

# And for HDF5.
if(TAPEDECK_HDF5)
  find_package(PkgConfig)
  if(PkgConfig_FOUND)
    pkg_check_modules(HDF5 IMPORTED_TARGET hdf5)
    # Without what reads files over HTTP: the shared library loads 28 more, curl and Kerberos among them, whenever tapectl starts.
    set(hdf5_archives)
    foreach(name hdf5_serial sz aec)
      find_library(TAPEDECK_ARCHIVE_${name} lib${name}.a)
      list(APPEND hdf5_archives ${TAPEDECK_ARCHIVE_${name}})
    endforeach()
    if(HDF5_FOUND AND NOT hdf5_archives MATCHES NOTFOUND)
      set_property(TARGET PkgConfig::HDF5 PROPERTY INTERFACE_LINK_LIBRARIES ${hdf5_archives} z m ${CMAKE_DL_LIBS})
    endif()
  endif()
  if(NOT HDF5_FOUND)
    message(STATUS "libhdf5 not found: building without it; exports to HDF5 will be refused")
    set(TAPEDECK_HDF5 OFF)
  endif()
endif()

# And for Ceph, whose C++ library has no pkg-config file.
if(TAPEDECK_RADOS)
  find_path(TAPEDECK_RADOS_INCLUDE rados/librados.hpp)
  find_library(TAPEDECK_RADOS_LIBRARY rados)
  if(NOT TAPEDECK_RADOS_INCLUDE OR NOT TAPEDECK_RADOS_LIBRARY)
    message(STATUS "librados not found: building without it; LUNs of kind rados will be refused")
    set(TAPEDECK_RADOS OFF)
  endif()
endif()

# And for the probes.
if(TAPEDECK_SDT)
  find_path(TAPEDECK_SDT_INCLUDE sys/sdt.h)
  if(NOT TAPEDECK_SDT_INCLUDE)
    message(STATUS "systemtap-sdt-dev not found: building without USDT probes")
    set(TAPEDECK_SDT OFF)
  endif()
endif()
message(STATUS "CUDA ${TAPEDECK_CUDA}, verbs ${TAPEDECK_VERBS}, hwloc ${TAPEDECK_HWLOC}, FFTW ${TAPEDECK_FFTW}, kissfft ${TAPEDECK_KISSFFT}, admin ${TAPEDECK_ADMIN}, FUSE ${TAPEDECK_FUSE}, HDF5 ${TAPEDECK_HDF5}, Ceph ${TAPEDECK_RADOS}, probes ${TAPEDECK_SDT}, sanitizers '${TAPEDECK_SANITIZE}'")

# tapedeck_library(NAME SOURCES a.cc b.cc LIBS other): a static library of one room.
function(tapedeck_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tapedeck_options ${ARG_LIBS})
  tapedeck_as_its_folder(${name})
endfunction()

# tapedeck_sources(OUT a.cc */*.cc): the files that match, by their names, whatever their folder.
function(tapedeck_sources out)
  file(GLOB found RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${ARGN})
  set(named)
  foreach(source ${found})
    get_filename_component(name ${source} NAME)
    list(APPEND named "${name}|${source}")
  endforeach()
  list(SORT named)
  list(TRANSFORM named REPLACE "^[^|]*[|]" "")
  set(${out} ${named} PARENT_SCOPE)
endfunction()

# tapedeck_as_its_folder(TARGET): where a folder has set TAPEDECK_OFF_PATH, no block passes it.
function(tapedeck_as_its_folder target)
  if(TAPEDECK_OFF_PATH)
    target_compile_options(${target} PRIVATE ${TAPEDECK_OFF_PATH_OPTIONS})
    set_target_properties(${target} PROPERTIES TAPEDECK_PRECOMPILED off_path)
  endif()
endfunction()
