// What a power cut does to a write that no flush has covered.
#pragma once

#include <cstdint>
#include <random>

namespace tapedeck::sim {

inline constexpr uint64_t kSectorBytes = 512;

// What power cuts did to writes.
struct Losses {
  uint64_t lost = 0;
  uint64_t torn = 0;

  void Add(const Losses& more) {
    lost += more.lost;
    torn += more.torn;
  }
};

// It is on the disk, or some of its sectors are, or it is not.
enum class Fate { kLost, kWhole, kTorn };

inline Fate FateOf(std::mt19937_64& random) { return static_cast<Fate>(random() % 3); }

}  // namespace tapedeck::sim
