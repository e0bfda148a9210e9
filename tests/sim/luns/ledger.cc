#include "tests/sim/luns/ledger.h"

#include <cstring>

#include "tests/sim/disks/fingerprint.h"

namespace tapedeck::sim {

void FillBlock(uint64_t stream, uint64_t number, std::span<std::byte> payload) {
  const uint64_t word = Join(stream, number);
  for (size_t i = 0; i + sizeof(word) <= payload.size(); i += sizeof(word)) {
    std::memcpy(&payload[i], &word, sizeof(word));
  }
}

bool Take::IsRight(uint64_t sequence, std::span<const std::byte> payload) const {
  if (payload.size() != manifest.block_bytes) return false;
  const uint64_t word = Join(stream, first + sequence);
  const size_t rest = payload.size() - sizeof(word);
  return std::memcmp(payload.data(), &word, sizeof(word)) == 0 &&
         std::memcmp(payload.data(), payload.data() + sizeof(word), rest) == 0;
}

}  // namespace tapedeck::sim
