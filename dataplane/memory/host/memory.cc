#include "dataplane/memory/host/memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/errors.h"
#include "dataplane/memory/available.h"
#include "dataplane/memory/pages.h"
#include "dataplane/status_macros.h"

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

absl::StatusOr<std::unique_ptr<Memory>> Create(size_t bytes, const OnResident& on_resident) {
  TD_RETURN_IF_ERROR(CheckAvailable(
      "host memory", bytes, "memory",
      "end other sessions, use fewer slots or smaller blocks, or give it more memory"));
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    return LimitReached("address space", "memory",
                        absl::StrCat("mmap of ", bytes, " bytes: ", std::strerror(errno),
                                     "; end other sessions, use fewer slots or smaller blocks"));
  }
  auto memory = std::make_unique<HostMemory>(std::span(static_cast<std::byte*>(address), bytes));
  TD_RETURN_IF_ERROR(MakeResident(memory->window().bytes, on_resident));
  return memory;
}

}  // namespace tapedeck::dataplane::host
