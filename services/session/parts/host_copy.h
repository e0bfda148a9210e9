// A block in plain memory instead of its slot, which somebody else needs.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "dataplane/block/block.h"

namespace tapedeck::services::parts {

inline constexpr uint32_t kNoSlot = UINT32_MAX;

class HostCopy final : public dataplane::SlotOwner {
 public:
  // Its slot is kNoSlot. The payload must lie where the processor reaches it.
  static dataplane::Block Of(const dataplane::Block& block) {
    const std::span<const std::byte> payload = block.payload();
    auto copy = std::make_shared<HostCopy>(payload.size());
    if (!payload.empty()) std::memcpy(copy->bytes_.data(), payload.data(), payload.size());
    const std::span<std::byte> bytes = copy->bytes_;
    dataplane::Block moved(std::move(copy), kNoSlot, bytes);
    moved.header() = block.header();
    return moved;
  }

  explicit HostCopy(size_t bytes) : bytes_(bytes) {}
  void ReturnSlot(uint32_t) override {}

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace tapedeck::services::parts
