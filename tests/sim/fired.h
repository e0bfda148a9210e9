// What has happened in a simulation and how often: a test that has not seen each kind of event has
// not tested it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

namespace tapedeck::sim {

using Fired = std::map<std::string, uint64_t>;

inline void Print(const Fired& fired) {
  for (const auto& [what, times] : fired) {
    std::printf("%10llu  %s\n", static_cast<unsigned long long>(times), what.c_str());
  }
}

}  // namespace tapedeck::sim
