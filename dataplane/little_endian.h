// Fixed-width little-endian numbers in byte buffers, for wire and disk formats.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace tapedeck::dataplane {

template <std::integral T>
void PutLittleEndian(std::byte* at, T value) {
  auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (size_t i = 0; i < sizeof(T); ++i) at[i] = static_cast<std::byte>((bits >> (8 * i)) & 0xff);
}

template <std::integral T>
T GetLittleEndian(const std::byte* at) {
  std::make_unsigned_t<T> bits = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    bits |= static_cast<std::make_unsigned_t<T>>(static_cast<std::make_unsigned_t<T>>(at[i])
                                                 << (8 * i));
  }
  return static_cast<T>(bits);
}

}  // namespace tapedeck::dataplane
