// Moves payload between slots and an O_DIRECT file or device: by io_uring, or by threads if the
// kernel refuses it. Offsets, lengths and addresses are multiples of kAlignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "dataplane/memory/memory.h"

namespace tapedeck::storage_node::engine {

// What O_DIRECT asks of offsets, lengths and addresses, and how a slot meets it.

// Enough for every device that has 512 B or 4 KiB sectors.
inline constexpr size_t kAlignment = 4096;

constexpr uint64_t AlignUp(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The part of the slot that a transfer of `block` moves: the payload, filled up to kAlignment.
// `where`: the file or device, for the error text.
absl::StatusOr<std::span<std::byte>> AlignedPayload(dataplane::Block& block,
                                                    const std::string& where);

// Zeros what of the slot follows the payload, up to kAlignment.
void ZeroPadding(dataplane::Block& block);

// Transfers under way per member (facts of NVMe drives: 16 to 64 large ones fill one).
inline constexpr unsigned kDepth = 32;

struct Transfer {
  bool write = false;
  int fd = -1;
  std::span<std::byte> bytes;
  uint64_t offset = 0;
  // On a thread of the engine, which it may not hold up. `error`: errno or 0; `moved`: bytes, fewer
  // than asked for only with an error or where a read meets the end of the file. A write that makes
  // no progress is ENOSPC.
  absl::AnyInvocable<void(int error, size_t moved)> done;
};

// Any thread. The destructor waits for what is under way; not on a thread of the engine.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual void Start(Transfer transfer) = 0;

  // Transfers of a file that was added cost less. It is removed before its descriptor is closed.
  virtual void AddFile(int fd) = 0;
  virtual void RemoveFile(int fd) = 0;

  // Transfers within memory that was adopted cost less. The memory may outlive the engine.
  virtual std::unique_ptr<dataplane::Memory> Adopt(std::unique_ptr<dataplane::Memory> memory) = 0;

  // How it works and, if it is not the best, why; for logs.
  virtual std::string description() const = 0;
};

// `name`: of its threads, at most 12 characters. Prefers io_uring. RESOURCE_EXHAUSTED
// (LIMIT_REACHED) where there are no threads.
absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(const std::string& name);

}  // namespace tapedeck::storage_node::engine
