// The files that were recorded, to tell a block of theirs by its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tapedeck::lab {

// Immutable. One thread.
class Sources {
 public:
  struct Place {
    size_t source = 0;
    uint64_t sequence = 0;
  };

  // Every file in `directory`, cut into blocks that all begin differently.
  static absl::StatusOr<Sources> Load(const std::string& directory, uint64_t block_bytes);

  // None unless `payload` is a whole block of a file, the last one perhaps a partial one.
  std::optional<Place> Find(std::span<const std::byte> payload) const;

  const std::string& name(size_t source) const { return names_[source]; }

 private:
  using Start = uint64_t;  // the first bytes of a block
  static std::optional<Start> StartOf(std::span<const std::byte> block);

  absl::Status Add(const std::string& path, uint64_t block_bytes);

  std::vector<std::string> names_;
  std::map<Start, std::pair<Place, std::vector<std::byte>>> blocks_;
};

}  // namespace tapedeck::lab
