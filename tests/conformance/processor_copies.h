// Copies by the calling processor, for tests of rails of kind ipc without a worker's devices.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/peer_copies.h"

namespace tapedeck::dataplane {

class ProcessorCopies final : public PeerCopies {
 public:
  absl::StatusOr<std::unique_ptr<PeerPath>> Open(const MemoryShare& share,
                                                 const MemoryWindow& /*local*/) override {
    absl::StatusOr<std::unique_ptr<Memory>> opened = host::OpenShared(share);
    if (!opened.ok()) return opened.status();
    const MemoryWindow window = (*opened)->window();
    return std::make_unique<Path>(window, *std::move(opened));
  }
  absl::StatusOr<std::unique_ptr<PeerPath>> Join(const MemoryWindow& peer,
                                                 const MemoryWindow& /*local*/) override {
    return std::make_unique<Path>(peer, nullptr);
  }

 private:
  class Path final : public PeerPath {
   public:
    Path(const MemoryWindow& peer, std::unique_ptr<Memory> opened)
        : peer_(peer), opened_(std::move(opened)) {}
    uint64_t bytes() const override { return peer_.bytes.size(); }
    void Read(std::span<std::byte> into, uint64_t offset, Done done) override {
      std::memcpy(into.data(), peer_.bytes.data() + offset, into.size());
      done(absl::OkStatus());
    }
    void Write(std::span<const std::byte> from, uint64_t offset, Done done) override {
      std::memcpy(peer_.bytes.data() + offset, from.data(), from.size());
      done(absl::OkStatus());
    }

   private:
    const MemoryWindow peer_;
    const std::unique_ptr<Memory> opened_;
  };
};

}  // namespace tapedeck::dataplane
