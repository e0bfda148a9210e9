// For keys, addresses and sequence numbers that a peer must not guess.
#pragma once

#include <sys/random.h>

#include <cstdint>

namespace tapedeck::dataplane::verbs {

inline uint64_t Random64() {
  uint64_t value = 0;
  // Requests up to 256 bytes are never short, getrandom(2).
  [[maybe_unused]] const ssize_t got = getrandom(&value, sizeof(value), 0);
  return value;
}

}  // namespace tapedeck::dataplane::verbs
