#include "dataplane/memory/host/memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/memory/host/pages.h"

namespace tapedeck::dataplane::host {
namespace {

class HostMemory final : public Memory {
 public:
  explicit HostMemory(std::span<std::byte> bytes) : bytes_(bytes) {}
  ~HostMemory() override { munmap(bytes_.data(), bytes_.size()); }
  MemoryWindow window() const override { return {.bytes = bytes_}; }

 private:
  const std::span<std::byte> bytes_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Memory>> Create(size_t bytes) {
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("mmap of ", bytes, " bytes: ", std::strerror(errno)));
  }
  const std::span window(static_cast<std::byte*>(address), bytes);
  MakeResident(window);
  return std::make_unique<HostMemory>(window);
}

}  // namespace tapedeck::dataplane::host
