// One session's window as one rail's port reaches it: a protection domain, and the window in it.
// The port registers the window once, with the least rights and at an address that tells the peer
// nothing. Any thread.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "dataplane/memory/memory.h"
#include "dataplane/transport/transport.h"
#include "dataplane/transport/verbs/port/objects.h"
#include "dataplane/transport/verbs/port/port.h"

namespace tapedeck::dataplane::verbs {

// Owned by a Domain; outlives the connections in it. The window is unreachable once it is gone.
class Registration {
 public:
  // MEMLOCK_TOO_LOW, GPU_MEMORY_NOT_REGISTRABLE.
  static absl::StatusOr<std::unique_ptr<Registration>> Create(const Port& port,
                                                              const MemoryWindow& window,
                                                              RemoteAccess access);

  ibv_pd* pd() const { return pd_.get(); }
  RemoteAccess access() const { return access_; }

  // How the peer addresses the window; zero where it may not.
  RemoteWindow remote_window() const;

  // How this end's requests address a part of the window; none for bytes outside it.
  std::optional<ibv_sge> Local(std::span<const std::byte> bytes) const;

 private:
  Registration(const MemoryWindow& window, RemoteAccess access)
      : window_(window), access_(access) {}

  const MemoryWindow window_;
  const RemoteAccess access_;
  uint64_t address_ = 0;  // of the window's first byte in requests
  ProtectionDomain pd_;
  MemoryRegion region_;
};

// Rights on memory and queue pairs that let the peer do this much.
unsigned AccessFlags(RemoteAccess access);

// Memory of this room's own for `size` bytes, page-aligned and zero, and its registration.
struct OwnMemory {
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  std::unique_ptr<std::byte, Free> bytes;
  size_t size = 0;
  MemoryRegion region;  // gone before the bytes
};
absl::StatusOr<OwnMemory> AllocateOwnMemory(ibv_pd* pd, size_t size);

}  // namespace tapedeck::dataplane::verbs
