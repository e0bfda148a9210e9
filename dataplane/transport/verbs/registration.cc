#include "dataplane/transport/verbs/registration.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/verbs/port/limits.h"
#include "dataplane/transport/verbs/random.h"

namespace tapedeck::dataplane::verbs {
namespace {

constexpr size_t kPageBytes = 4096;

// This end's port fills and reads the window. Relaxed ordering is a request only: nothing here is
// believed before its completion.
constexpr unsigned kLocalFlags =
    unsigned{IBV_ACCESS_LOCAL_WRITE} | unsigned{IBV_ACCESS_RELAXED_ORDERING};

uint64_t RandomAddress(const void* bytes) {
  constexpr uint64_t kKept = (uint64_t{1} << kKeptAddressBits) - 1;
  // The top bit stays clear, so that no window reaches past the end of the address space.
  return (Random64() >> 1 & ~kKept) | (reinterpret_cast<uint64_t>(bytes) & kKept);
}

struct Rung {
  const char* name;
  const char* call;
};
constexpr Rung kDmaBuf{"dma-buf", "ibv_reg_dmabuf_mr"};
constexpr Rung kPeerMemory{"nvidia-peermem", "ibv_reg_mr"};
constexpr Rung kHostMemory{"host memory", "ibv_reg_mr"};

}  // namespace

unsigned AccessFlags(RemoteAccess access) {
  switch (access) {
    case RemoteAccess::kRead:
      return IBV_ACCESS_REMOTE_READ;
    case RemoteAccess::kWrite:
      return IBV_ACCESS_REMOTE_WRITE;
    case RemoteAccess::kNone:
      break;
  }
  return 0;
}

absl::StatusOr<std::unique_ptr<Registration>> Registration::Create(const Port& port,
                                                                   const MemoryWindow& window,
                                                                   RemoteAccess access) {
  auto made = std::unique_ptr<Registration>(new Registration(window, access));
  TD_ASSIGN_OR_RETURN(made->pd_, CreateProtectionDomain(port.context()));
  made->address_ = RandomAddress(window.bytes.data());
  const unsigned flags = kLocalFlags | AccessFlags(access);
  ibv_pd* const pd = made->pd_.get();
  const Rung rung = window.dma_buf_fd >= 0   ? kDmaBuf
                    : window.host_accessible ? kHostMemory
                                             : kPeerMemory;
  made->region_.reset(
      window.dma_buf_fd >= 0
          ? ibv_reg_dmabuf_mr(pd, 0, window.bytes.size(), made->address_, window.dma_buf_fd,
                              static_cast<int>(flags))
          : ibv_reg_mr_iova2(pd, window.bytes.data(), window.bytes.size(), made->address_, flags));
  if (made->region_ == nullptr) {
    return RegistrationFailed(rung.call, window.bytes.size(), !window.host_accessible, errno);
  }
  Log(LogLevel::kInfo, "transport/verbs", "registered a window",
      {{"rail", port.name().rail},
       {"bytes", absl::StrCat(window.bytes.size())},
       {"rung", rung.name}});
  return made;
}

RemoteWindow Registration::remote_window() const {
  if (access_ == RemoteAccess::kNone) return {};
  return {.address = address_, .bytes = window_.bytes.size(), .key = region_->rkey};
}

std::optional<ibv_sge> Registration::Local(std::span<const std::byte> bytes) const {
  if (bytes.data() < window_.bytes.data() || bytes.size() > window_.bytes.size()) {
    return std::nullopt;
  }
  const auto offset = static_cast<size_t>(bytes.data() - window_.bytes.data());
  if (offset > window_.bytes.size() - bytes.size()) return std::nullopt;
  return ibv_sge{.addr = address_ + offset,
                 .length = static_cast<uint32_t>(bytes.size()),
                 .lkey = region_->lkey};
}

void OwnMemory::Free::operator()(std::byte* bytes) const { std::free(bytes); }

absl::StatusOr<OwnMemory> AllocateOwnMemory(ibv_pd* pd, size_t size) {
  const size_t rounded = (size + kPageBytes - 1) / kPageBytes * kPageBytes;
  OwnMemory memory{.size = rounded};
  memory.bytes.reset(static_cast<std::byte*>(std::aligned_alloc(kPageBytes, rounded)));
  if (memory.bytes == nullptr) return absl::ResourceExhaustedError("aligned_alloc: no memory");
  std::fill_n(memory.bytes.get(), rounded, std::byte{0});
  constexpr unsigned kFlags = IBV_ACCESS_LOCAL_WRITE;
  memory.region.reset(ibv_reg_mr(pd, memory.bytes.get(), rounded, kFlags));
  if (memory.region == nullptr) return RegistrationFailed("ibv_reg_mr", rounded, false, errno);
  return memory;
}

}  // namespace tapedeck::dataplane::verbs
