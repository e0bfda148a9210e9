// Which samples a picture is made of: few where it shows many, and whole pieces of blocks, as each
// must be read whole to be checked.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "services/view.h"
#include "storage_node/view/extent.h"
#include "storage_node/view/pieces.h"

namespace tapedeck::storage_node::view {

// What one answer reads of the payload, with room for index entries and second reads below the
// 64 MiB that are promised.
inline constexpr uint64_t kMostPayload = 56 << 20;
// Of a row or a point: more show little more, and take longer.
inline constexpr uint64_t kMostParts = 8;

// Samples that belong to a row of a picture, or to a point of a curve.
struct Part {
  uint32_t row = 0;
  services::SampleSpan span;
};

struct Plan {
  uint32_t rows = 0;  // as asked for, or fewer
  double samples_per_row = 0;
  uint32_t parts_per_row = 0;  // at most
  std::vector<Part> parts;     // rows ascend
};

// Parts of `length` samples each, spread evenly through each row: where a row is shorter than that,
// around it. `span` lies in the recording, and `length` is no longer than that.
Plan PlanTransforms(const Extent& extent, const services::SampleSpan& span, uint32_t rows,
                    uint64_t length);

// Everything of each row where that is little enough, else pieces spread evenly through it.
Plan PlanStretches(const Extent& extent, const services::SampleSpan& span, uint32_t rows);

// Fetches all parts, some MiB at a time, and gives each while its pieces are there.
absl::Status ReadParts(const Plan& plan, const Extent& extent, Pieces& pieces,
                       absl::FunctionRef<void(const Part&)> take);

}  // namespace tapedeck::storage_node::view
