// The interface to the code that copies between memory of two processes of one machine. The program
// decides whether a CPU or a GPU moves the bytes: this folder knows neither.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/memory/memory.h"

namespace tapedeck::dataplane {

// From and to a window of a peer, which stays open as long as this lives. Any thread. Destroying
// it waits for the copies under way.
class PeerPath {
 public:
  using Done = absl::AnyInvocable<void(absl::Status)>;

  virtual ~PeerPath() = default;

  // Of the peer's window.
  virtual uint64_t bytes() const = 0;
  // Enqueues a copy. `done` is called once it is over, on any thread, even inline: it must not
  // block, only hand over. `offset` and the size lie within the window: the caller has checked
  // that.
  virtual void Read(std::span<std::byte> into, uint64_t offset, Done done) = 0;
  virtual void Write(std::span<const std::byte> from, uint64_t offset, Done done) = 0;
};

// Any thread that may wait. Outlives its paths.
class PeerCopies {
 public:
  virtual ~PeerCopies() = default;

  // To a window of another process, copies with `local`, which outlives the path. The errors of
  // host::OpenShared and cuda::OpenShared; UNIMPLEMENTED where nothing copies between these two.
  virtual absl::StatusOr<std::unique_ptr<PeerPath>> Open(const MemoryShare& share,
                                                         const MemoryWindow& local) = 0;
  // To another window of this process, which outlives the path.
  virtual absl::StatusOr<std::unique_ptr<PeerPath>> Join(const MemoryWindow& peer,
                                                         const MemoryWindow& local) = 0;
};

}  // namespace tapedeck::dataplane
