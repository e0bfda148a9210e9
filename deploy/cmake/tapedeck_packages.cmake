# The Debian packages tapedeck-storage, tapedeck-worker, tapedeck-cli and tapedeck-dev, made by CPack: what each installs.
# deploy/packages.sh builds them without FFTW.

set(PACKAGING ${CMAKE_SOURCE_DIR}/deploy/packages)

# tapedeck_package(NAME PROGRAM): a program with its licences and READMEs.
function(tapedeck_package name program)
  install(TARGETS ${program} RUNTIME DESTINATION usr/bin COMPONENT ${name})
  install(FILES ${PACKAGING}/copyright ${CMAKE_SOURCE_DIR}/deploy/README.md DESTINATION usr/share/doc/tapedeck-${name} COMPONENT ${name})
  string(TOUPPER ${name} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME tapedeck-${name} CACHE INTERNAL "")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION net CACHE INTERNAL "")
endfunction()

# tapedeck_daemon_package(NAME PROGRAM): and with its unit, settings, user and examples.
function(tapedeck_daemon_package name program)
  tapedeck_package(${name} ${program})
  set(scripts)
  foreach(script postinst prerm postrm)
    configure_file(${PACKAGING}/${script}.in ${CMAKE_BINARY_DIR}/packaging/${name}/${script} @ONLY
      FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    list(APPEND scripts ${CMAKE_BINARY_DIR}/packaging/${name}/${script})
  endforeach()
  file(WRITE ${CMAKE_BINARY_DIR}/packaging/${name}/conffiles "/etc/default/tapedeck-${name}\n/etc/tapedeck/${name}.yaml\n")
  list(APPEND scripts ${CMAKE_BINARY_DIR}/packaging/${name}/conffiles)
  install(FILES ${CMAKE_SOURCE_DIR}/deploy/systemd/tapedeck-${name}.service DESTINATION usr/lib/systemd/system COMPONENT ${name})
  install(FILES ${PACKAGING}/tapedeck-${name}.default DESTINATION etc/default RENAME tapedeck-${name} COMPONENT ${name})
  install(FILES ${CMAKE_SOURCE_DIR}/deploy/examples/${name}-installed.yaml DESTINATION etc/tapedeck RENAME ${name}.yaml COMPONENT ${name})
  install(FILES ${CMAKE_SOURCE_DIR}/deploy/systemd/${name}.conf RENAME override.conf
    DESTINATION usr/share/doc/tapedeck-${name}/examples/tapedeck-${name}.service.d COMPONENT ${name})
  string(TOUPPER ${name} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${scripts} CACHE INTERNAL "")
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "passwd" CACHE INTERNAL "")
  set(CPACK_DEBIAN_${upper}_PACKAGE_RECOMMENDS "ibverbs-providers, tapedeck-cli" CACHE INTERNAL "")
endfunction()

tapedeck_daemon_package(storage tapedeck-storage)
tapedeck_daemon_package(worker tapedeck-worker)
tapedeck_package(cli tapectl)
# The target tapectl-extras makes these.
set(EXTRAS ${CMAKE_BINARY_DIR}/tapectl-extras)
install(DIRECTORY ${EXTRAS}/man/ DESTINATION usr/share/man/man1 COMPONENT cli)
install(DIRECTORY ${EXTRAS}/bash/ DESTINATION usr/share/bash-completion/completions COMPONENT cli)
install(DIRECTORY ${EXTRAS}/zsh/ DESTINATION usr/share/zsh/vendor-completions COMPONENT cli)
install(DIRECTORY ${EXTRAS}/fish/ DESTINATION usr/share/fish/vendor_completions.d COMPONENT cli)

# libtapedeck: what it installs says gpu_worker/api/CMakeLists.txt.
install(FILES ${PACKAGING}/copyright ${CMAKE_SOURCE_DIR}/gpu_worker/api/README.md DESTINATION usr/share/doc/tapedeck-dev COMPONENT dev)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME tapedeck-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)

# Plain variables, as the cache keeps no text of several lines. The first line is the summary.
set(CPACK_DEBIAN_STORAGE_DESCRIPTION "Tapedeck storage node: records GPU memory over RDMA or TCP
Keeps blocks that GPU workers send over all network ports at once, and plays them back.")
set(CPACK_DEBIAN_WORKER_DESCRIPTION "Tapedeck GPU worker: records from and plays back to GPU or host memory
Moves blocks of GPU memory to and from Tapedeck storage nodes, over RDMA or TCP.")
set(CPACK_DEBIAN_CLI_DESCRIPTION "Tapedeck command line
Records, plays, lists and examines on Tapedeck storage nodes and GPU workers.")
set(CPACK_DEBIAN_DEV_DESCRIPTION "Tapedeck library for programs with GPU kernels of their own
Records from and plays to memory of a CUDA program, in the order of its streams; headers, library and examples.")

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL storage worker cli dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_PACKAGE_VENDOR Tapedeck)
set(CPACK_PACKAGE_CONTACT "The Tapedeck authors <tapedeck@localhost>")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_PRE_BUILD_SCRIPTS ${PACKAGING}/same_times.cmake)
include(CPack)
