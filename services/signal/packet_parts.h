// A packet as it lies in memory before it is sent or written: its parts, one behind the other.
#pragma once

#include <cstddef>
#include <span>

namespace tapedeck::services {

struct PacketParts {
  std::span<const std::byte> header;
  std::span<const std::byte> samples = {};
  std::span<const std::byte> padding = {};
};

}  // namespace tapedeck::services
