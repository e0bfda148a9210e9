// 64 bits that tell two states of a disk apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace tapedeck::sim {

// Depends on the order.
inline uint64_t Join(uint64_t a, uint64_t b) {
  uint64_t mixed = (a ^ (b + 0x9e3779b97f4a7c15)) * 0xff51afd7ed558ccd;
  mixed = (mixed ^ mixed >> 33) * 0xc4ceb9fe1a85ec53;
  return mixed ^ mixed >> 33;
}

inline uint64_t FingerprintOf(std::string_view bytes) {
  return std::hash<std::string_view>()(bytes);
}

inline uint64_t FingerprintOf(std::span<const std::byte> bytes) {
  return FingerprintOf({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace tapedeck::sim
