#!/usr/bin/env bash
# archives.sh COMMAND...: runs a linker's command. A program gets gRPC, Protobuf and Abseil from their archives instead of the
# shared libraries, if Debian has the archives: a program that loads 70 shared libraries more takes 10 ms longer to start. A shared
# library keeps them shared, because Debian's archives are not position-independent.
command=()
for word in "$@"; do
  case $word in
    -shared) exec "$@" ;;
    */libgrpc*.so* | */libgpr.so* | */libupb.so* | */libaddress_sorting.so* | */libabsl_*.so* | */libprotobuf.so*)
      [[ ! -e ${word%%.so*}.a ]] || word=${word%%.so*}.a
      ;;
  esac
  command+=("$word")
done
exec "${command[@]}"
