// What the members of a mirrored LUN say where one of the two copies is behind.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tapedeck::storage_node::format {

// Either member may say it; both say the same.
struct Behind {
  std::string lun_uid;
  uint32_t member = 0;   // 0 or 1: it lacks, or may lack, what was done since
  int64_t since_ns = 0;  // UTC
  std::string why;       // for people, at most kMaxBehindWhy bytes
  bool operator==(const Behind&) const = default;
};

inline constexpr size_t kMaxBehindWhy = 1024;

// What is not printable, and more than that, is left out of `why`.
std::string EncodeBehind(const Behind& behind);
// DATA_LOSS: damaged, or with values that none has.
absl::StatusOr<Behind> DecodeBehind(absl::string_view text);

}  // namespace tapedeck::storage_node::format
