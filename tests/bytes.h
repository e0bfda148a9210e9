// Work on many bytes, for tests: their own files are compiled without the optimizer, which makes a
// loop over a megabyte a hundred times as long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tapedeck {

// As many, and the same.
bool SameBytes(std::span<const std::byte> a, std::span<const std::byte> b);

// To the beginning of `to`, which has room for them.
void PutBytes(std::span<const std::byte> from, std::span<std::byte> to);

// Every byte is `value`.
bool AllAre(std::byte value, std::span<const std::byte> bytes);

// Numbers of SplitMix64 (Steele, Lea, Flood 2014) that began with `seed`; the last up to 7 bytes
// stay as they are.
void FillRandom(uint64_t seed, std::span<std::byte> bytes);
std::vector<std::byte> RandomBytes(uint64_t seed, size_t bytes);

// Every 8 bytes hold `first` and their place, so that no two payloads of different `first` are
// alike.
void FillCounted(uint64_t first, std::span<std::byte> bytes);

}  // namespace tapedeck
