// A node without a store: sessions recorded to it are dropped, sessions played from it carry
// whatever lies in its ring. For measuring rails alone, through the product's own sessions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/bench/checks.h"

namespace tapedeck::bench {

// What a session wants of a null node; carried in the labels of its Open.
struct NullStream {
  uint64_t blocks = 0;  // to play
  uint64_t block_bytes = 1 << 20;
  uint32_t slots = 64;
  Checks crc = Checks::kEach;
};

std::map<std::string, std::string> ToLabels(const NullStream& stream);

// Serves on `listen` until SIGTERM or SIGINT.
absl::Status ServeNullNode(const std::string& listen, const std::vector<std::string>& rails);

}  // namespace tapedeck::bench
