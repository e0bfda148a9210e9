// Numbers and check values in what an independent reader reads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "dataplane/crc/crc32c.h"

namespace tapedeck::disaster {

inline constexpr uint64_t kPage = 4096;

inline uint32_t Crc(std::string_view bytes) {
  return dataplane::Crc32c(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

// Little-endian.
inline uint64_t Number(std::string_view bytes, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[at + i]);
  return value;
}
inline void Put(std::string* to, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; ++i) to->push_back(static_cast<char>(value >> (8 * i)));
}

}  // namespace tapedeck::disaster
