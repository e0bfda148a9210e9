#include "dataplane/memory/host/pages.h"

#include <sys/mman.h>
#include <unistd.h>

namespace tapedeck::dataplane::host {

void MakeResident(std::span<std::byte> bytes) {
  madvise(bytes.data(), bytes.size(), MADV_HUGEPAGE);  // advice: without huge pages it still works
  if (madvise(bytes.data(), bytes.size(), MADV_POPULATE_WRITE) == 0) return;
  // Kernels before 5.14.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  for (size_t i = 0; i < bytes.size(); i += page) {
    *const_cast<volatile std::byte*>(&bytes[i]) = std::byte{0};
  }
}

}  // namespace tapedeck::dataplane::host
