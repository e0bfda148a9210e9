// The file of a dump: 8 bytes "TDFLIGHT", then parts, each with its length in 4 bytes before it,
// little-endian.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tapedeck::services::flight {

// Of a part. What the writer makes is smaller.
inline constexpr uint32_t kMaxDumpPartBytes = 1 << 20;

struct DumpPart {
  std::string bytes;
  uint64_t next = 0;  // where the part behind it is; 0: it was the last
};

// Written beside it and renamed: the file is there whole or not at all.
absl::Status WriteDumpFile(const std::string& path, const std::vector<std::string>& parts);

// The part at `at`; 0: the first. NOT_FOUND, DATA_LOSS.
absl::StatusOr<DumpPart> ReadDumpPart(const std::string& path, uint64_t at);

// A regular file that begins as dumps do.
bool IsDumpFile(const std::string& path);

}  // namespace tapedeck::services::flight
