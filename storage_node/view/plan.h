// The samples that make a picture. A picture of a long span uses few samples. It uses whole pieces
// of blocks, because a piece must be read whole to be checked.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "services/model/seams/view.h"
#include "storage_node/view/pieces.h"

namespace tapedeck::storage_node::view {

// What one answer reads of the payload, with room for index entries and second reads below the
// 64 MiB that are promised.
inline constexpr uint64_t kMostPayload = 56 << 20;
// Places of a row or a point that are read of a long one.
inline constexpr uint64_t kMostParts = 8;
// Samples that one picture transforms, but for the overlap: more would keep a core longer than a
// person waits.
inline constexpr uint64_t kMostTransformed = 8 << 20;

// Samples that belong to a row of a picture, or to a point of a curve.
struct Part {
  uint32_t row = 0;
  services::SampleSpan span;
};

struct Plan {
  uint32_t rows = 0;  // as asked for, or fewer
  double samples_per_row = 0;
  uint64_t covered = 0;     // samples of the span that lie in a part
  std::vector<Part> parts;  // rows ascend
};

// How transforms follow each other.
struct Steps {
  uint64_t length = 0;  // samples of each
  uint64_t hop = 0;     // from one to the next
  uint64_t grid = 1;    // they begin at multiples of it; divides a block. Above 1: it is the length
};

// Parts of one transform or of several at `steps`. Every sample of a row lies in one where that is
// little enough; else they are spread through the row. Where a row is shorter than a transform, it
// has one around it. `span` lies in the recording, which has a transform's samples at least.
Plan PlanTransforms(const Extent& extent, const services::SampleSpan& span, uint32_t rows,
                    const Steps& steps);

// Everything of each row where that is little enough, else pieces spread evenly through it.
Plan PlanStretches(const Extent& extent, const services::SampleSpan& span, uint32_t rows);

// Fetches all parts, some MiB at a time, and gives each while its pieces are there.
absl::Status ReadParts(const Plan& plan, const Extent& extent, Pieces& pieces,
                       absl::FunctionRef<void(const Part&)> take);

}  // namespace tapedeck::storage_node::view
