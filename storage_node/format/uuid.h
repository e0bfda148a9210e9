// RFC 9562 UUIDs: they name LUNs and recordings for ever, whatever their directories are called.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::storage_node::format {

// A source of random 64-bit numbers, injected so that simulations repeat.
using Random = std::function<uint64_t()>;

struct Uuid {
  std::array<std::byte, 16> bytes{};

  static Uuid Make(const Random& random);  // version 4
  static absl::StatusOr<Uuid> Parse(absl::string_view text);

  std::string ToString() const;  // lower case, with dashes
  bool operator==(const Uuid&) const = default;
};

}  // namespace tapedeck::storage_node::format
