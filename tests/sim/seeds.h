// Which seeds a simulation runs, and how a failing one is repeated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace tapedeck::sim {

// `count` from 1 on, or with TAPEDECK_LONG four times as many; TAPEDECK_SIM_FIRST names another
// first, TAPEDECK_SIM_SEEDS another count. Or the one that TAPEDECK_SIM_SEED names.
inline std::vector<uint64_t> Seeds(uint64_t count) {
  if (const char* one = std::getenv("TAPEDECK_SIM_SEED")) return {std::strtoull(one, nullptr, 10)};
  if (std::getenv("TAPEDECK_LONG") != nullptr) count *= 4;
  if (const char* many = std::getenv("TAPEDECK_SIM_SEEDS"))
    count = std::strtoull(many, nullptr, 10);
  const char* from = std::getenv("TAPEDECK_SIM_FIRST");
  const uint64_t first = from == nullptr ? 1 : std::strtoull(from, nullptr, 10);
  std::vector<uint64_t> seeds;
  for (uint64_t i = 0; i < count; ++i) seeds.push_back(first + i);
  return seeds;
}

// Whether a sanitizer looks at the code (TAPEDECK_SANITIZED=few): other states of the disk that the
// same code meets are then not worth their time.
inline bool FewStates() {
  const char* sanitized = std::getenv("TAPEDECK_SANITIZED");
  return sanitized != nullptr && std::string_view(sanitized) == "few";
}

// Of seeds that give the code another state of the disk more than other code to run.
inline std::vector<uint64_t> StateSeeds(uint64_t count) {
  return FewStates() ? Seeds(std::max<uint64_t>(1, count / 5)) : Seeds(count);
}

// Of seeds that make other faults meet: a sanitizer looks for what any of them shows, and the plain
// build at all.
inline std::vector<uint64_t> FaultSeeds(uint64_t count) {
  return FewStates() ? Seeds(std::max<uint64_t>(1, count * 3 / 10)) : Seeds(count);
}

inline std::string HowToRepeat(uint64_t seed) {
  return "repeat with TAPEDECK_SIM_SEED=" + std::to_string(seed);
}

}  // namespace tapedeck::sim
