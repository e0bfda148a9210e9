// What every description of a stream must satisfy, whoever sends it.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "dataplane/datatype.h"
#include "services/model/channel.h"
#include "services/model/recording/group.h"
#include "services/model/recording/origin.h"
#include "services/model/recording/part.h"
#include "services/model/words/description.h"
#include "services/session/protocol/violation.h"

namespace tapedeck::services::session {

using model::kMaxBlockBytes;
// Beyond any stream: sums and products of honest values below it do not overflow.
inline constexpr uint64_t kMaxStreamBytes = uint64_t{1} << 62;
inline constexpr size_t kMaxNameBytes = 256;
// A node may hold seconds of a stream in one ring.
inline constexpr uint32_t kMaxSlots = 1 << 24;

inline bool IsBlockSize(uint64_t bytes) {
  return bytes != 0 && bytes % model::kBlockAlignment == 0 && bytes <= kMaxBlockBytes;
}

// So many blocks of that size are a possible stream.
inline bool IsBlockCount(uint64_t blocks, uint64_t block_bytes) {
  return blocks <= kMaxStreamBytes / (block_bytes == 0 ? kMaxBlockBytes : block_bytes);
}

inline void CheckBlockBytes(FieldCheck& check, uint64_t block_bytes) {
  check.Require(IsBlockSize(block_bytes), "block_bytes", "is not a multiple of 4096 up to 8 MiB");
}

inline void CheckSamples(FieldCheck& check, absl::string_view datatype, double sample_rate) {
  check.Require(dataplane::ParseDatatype(datatype).ok(), "datatype", "is not a SigMF datatype")
      .Require(sample_rate >= 0 && std::isfinite(sample_rate), "sample_rate",
               "is negative or no number");
}

inline void CheckLabels(FieldCheck& check, const model::Labels& labels) {
  const std::string problem = model::LabelsProblem(labels, model::kRecordingLabels);
  check.Require(problem.empty(), "labels", problem);
}

// How a stream is or was made: of an Open or a Recording.
template <typename Description>
void CheckMade(FieldCheck& check, const Description& stream) {
  const std::string problem = model::OriginProblem(stream.origin);
  check.Require(problem.empty(), "origin", problem);
  if (stream.group.has_value()) {
    const absl::Status group = model::CheckGroup(*stream.group);
    check.Require(group.ok(), "group", group.message());
  }
  if (stream.part.has_value()) {
    const absl::Status part = model::CheckPart(*stream.part);
    check.Require(part.ok(), "part", part.message());
  }
}

}  // namespace tapedeck::services::session
