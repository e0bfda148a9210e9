#include "dataplane/crc/vector_state.h"

namespace tapedeck::dataplane {
namespace {

__attribute__((target("avx"))) void ZeroUpper() { __builtin_ia32_vzeroupper(); }

}  // namespace

void ClearVectorState() {
  if (__builtin_cpu_supports("avx")) ZeroUpper();
}

}  // namespace tapedeck::dataplane
