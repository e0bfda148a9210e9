// Computes the CRC32C of payloads where they lie: in host memory, or in a GPU's by that GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "absl/status/statusor.h"

namespace tapedeck::dataplane {

// Called on one executor.
class PayloadCrc {
 public:
  using Done = std::function<void(absl::StatusOr<uint32_t>)>;

  // Computations that may be under way at a time: enough to hide the way to a GPU and back.
  static constexpr size_t kMaxUnderWay = 32;

  virtual ~PayloadCrc() = default;

  // `done` is called once, inline or later on any thread; it only hands over. `payload` stays until
  // then.
  virtual void Compute(std::span<const std::byte> payload, Done done) = 0;
};

}  // namespace tapedeck::dataplane
