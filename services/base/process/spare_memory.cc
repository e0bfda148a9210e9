#include "services/base/process/spare_memory.h"

#include <malloc.h>

#include <cstddef>

namespace tapedeck::services {
namespace {

// Less is what a busy node frees and takes all the time.
constexpr size_t kSpareBytes = 8 << 20;

constexpr int kArenas = 4;

}  // namespace

void ShareSpareMemory() { mallopt(M_ARENA_MAX, kArenas); }

void GiveBackSpareMemory() {
  const struct mallinfo2 info = mallinfo2();
  if (info.fordblks >= kSpareBytes) malloc_trim(kSpareBytes / 4);
}

}  // namespace tapedeck::services
