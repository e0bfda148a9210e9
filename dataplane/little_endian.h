// Fixed-width little-endian fields in byte buffers, for wire and disk formats.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>

namespace tapedeck::dataplane {

static_assert(std::endian::native == std::endian::little,
              "formats are copied as they lie in memory");

template <std::integral T>
void PutLe(std::span<std::byte> bytes, size_t offset, T value) {
  std::memcpy(bytes.subspan(offset, sizeof(T)).data(), &value, sizeof(T));
}

template <std::integral T>
T GetLe(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.subspan(offset, sizeof(T)).data(), sizeof(T));
  return value;
}

}  // namespace tapedeck::dataplane
