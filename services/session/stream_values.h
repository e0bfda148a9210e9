// What every description of a stream must satisfy, whoever sends it.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "dataplane/datatype.h"
#include "services/session/violation.h"

namespace tapedeck::services::session {

// Sector and page; less would be no block of any store.
inline constexpr uint64_t kBlockMultiple = 4096;
// The largest RDMA message of the slowest supported device.
inline constexpr uint64_t kMaxBlockBytes = 8 << 20;
// Beyond any stream: sums and products of honest values below it do not overflow.
inline constexpr uint64_t kMaxStreamBytes = uint64_t{1} << 62;
inline constexpr size_t kMaxNameBytes = 256;
// A label may be a path.
inline constexpr size_t kMaxLabels = 256;
inline constexpr size_t kMaxLabelBytes = 4096;
// Of all labels that a session may give its recording: an answer with the recording has one
// message.
inline constexpr size_t kMaxAllLabelsBytes = 64 << 10;
// A node may hold seconds of a stream in one ring.
inline constexpr uint32_t kMaxSlots = 1 << 24;

inline bool IsBlockSize(uint64_t bytes) {
  return bytes != 0 && bytes % kBlockMultiple == 0 && bytes <= kMaxBlockBytes;
}

// So many blocks of that size are a possible stream.
inline bool IsBlockCount(uint64_t blocks, uint64_t block_bytes) {
  return blocks <= kMaxStreamBytes / (block_bytes == 0 ? kMaxBlockBytes : block_bytes);
}

inline void CheckBlockBytes(FieldCheck& check, uint64_t block_bytes) {
  check.Require(IsBlockSize(block_bytes), "block_bytes", "is no multiple of 4096 up to 8 MiB");
}

inline void CheckSamples(FieldCheck& check, absl::string_view datatype, double sample_rate) {
  check.Require(dataplane::ParseDatatype(datatype).ok(), "datatype", "is no SigMF datatype")
      .Require(sample_rate >= 0 && std::isfinite(sample_rate), "sample_rate",
               "is negative or no number");
}

inline void CheckLabels(FieldCheck& check, const std::map<std::string, std::string>& labels) {
  check.Require(labels.size() <= kMaxLabels, "labels", "are more than 256");
  for (const auto& [key, value] : labels) {
    check.Require(!key.empty(), "labels", "have one without a name")
        .Text(key, kMaxNameBytes, "labels")
        .Require(value.size() <= kMaxLabelBytes, "labels", "have one longer than 4096 bytes");
  }
}

}  // namespace tapedeck::services::session
