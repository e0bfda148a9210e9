// A process beside this one that has memory of a device which others can open.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/fd.h"
#include "dataplane/memory/share.h"

namespace tapedeck::gpu_worker {

// The byte at `at` of the memory when it is new.
constexpr std::byte OwnedByte(size_t at) { return static_cast<std::byte>(at * 131 + (at >> 12)); }

// Owned by a test; its process ends with it.
class PeerOwner {
 public:
  // Starts gpu_worker_peer from this program's folder. UNAVAILABLE with its words if it cannot.
  static absl::StatusOr<std::unique_ptr<PeerOwner>> Start(const std::string& device, size_t bytes);
  ~PeerOwner();

  const dataplane::MemoryShare& share() const { return share_; }
  // CRC32C of its memory as it is now.
  absl::StatusOr<uint32_t> Crc();
  void Kill();

 private:
  PeerOwner() = default;

  pid_t pid_ = -1;
  dataplane::Fd to_;
  dataplane::Fd from_;
  dataplane::MemoryShare share_;
};

// The other side, in that process: tells of its memory on standard output, and answers a CRC for
// each byte of standard input.
absl::Status OwnMemory(const std::string& device, size_t bytes);

}  // namespace tapedeck::gpu_worker
