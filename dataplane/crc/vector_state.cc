#include "dataplane/crc/vector_state.h"

namespace tapedeck::dataplane {
#if defined(__x86_64__)
namespace {

__attribute__((target("avx"))) void ZeroUpper() { __builtin_ia32_vzeroupper(); }

}  // namespace

void ClearVectorState() {
  if (__builtin_cpu_supports("avx")) ZeroUpper();
}

#else

void ClearVectorState() {}

#endif

}  // namespace tapedeck::dataplane
