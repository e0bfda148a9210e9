// Finds one of a list's kinds by its name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tapedeck::gpu_worker::packets {

// Null: there is none.
template <typename Kind, size_t kKinds>
const Kind* FindNamed(const Kind (&kinds)[kKinds], const std::string& name) {
  for (const Kind& kind : kinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

template <typename Kind, size_t kKinds>
std::vector<std::string> NamesOf(const Kind (&kinds)[kKinds]) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

}  // namespace tapedeck::gpu_worker::packets
