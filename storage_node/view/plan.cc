#include "storage_node/view/plan.h"

#include <algorithm>

#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::view {
namespace {

using services::SampleSpan;

// Of parts that are fetched together.
constexpr uint64_t kBatchBytes = 4 << 20;

// Rows of a span.
struct Rows {
  Rows(const SampleSpan& span, uint32_t rows)
      : first(static_cast<double>(span.first)),
        each(static_cast<double>(span.count) / static_cast<double>(rows)) {}
  // The middle of the n-th of `count` equal parts of a row.
  uint64_t Middle(uint32_t row, uint64_t n, uint64_t count) const {
    const double at = row + (static_cast<double>(n) + 0.5) / static_cast<double>(count);
    return static_cast<uint64_t>(first + at * each);
  }
  uint64_t Begin(uint32_t row) const { return static_cast<uint64_t>(first + row * each); }

  double first;
  double each;
};

uint64_t MostPieces(const Extent& extent) {
  return kMostPayload / (extent.piece_samples * extent.sample_bytes);
}

// With the pieces at both ends.
bool IsLittle(const Extent& extent, uint64_t samples) {
  return samples / extent.piece_samples + 2 <= MostPieces(extent);
}

// The first of `count` whole pieces of one block, around a sample.
uint64_t PiecesAround(const Extent& extent, uint64_t sample, uint64_t count) {
  const uint64_t block = sample / extent.block_samples;
  const uint64_t whole = extent.block_samples / extent.piece_samples;
  const uint64_t last = whole < count ? 0 : whole - count;
  const uint64_t piece = sample % extent.block_samples / extent.piece_samples;
  return block * extent.block_samples + std::min(piece, last) * extent.piece_samples;
}

// So that it ends within `end`.
uint64_t Within(uint64_t begin, uint64_t length, uint64_t end) {
  return std::min(begin, end - std::min(length, end));
}

void AddDense(const Extent& extent, const SampleSpan& span, uint64_t length, Plan* plan) {
  const Rows rows(span, plan->rows);
  const auto fit = static_cast<uint64_t>(rows.each / static_cast<double>(length));
  const uint64_t count = std::clamp<uint64_t>(fit, 1, kMostParts);
  // What is asked for, and beyond it where it is shorter than a transform.
  const uint64_t end = std::max(span.end(), std::min(span.first + length, extent.samples));
  for (uint32_t row = 0; row < plan->rows; ++row) {
    for (uint64_t n = 0; n < count; ++n) {
      const uint64_t middle = rows.Middle(row, n, count);
      const uint64_t begin = middle - std::min(middle, length / 2);
      const uint64_t least = Within(span.first, length, end);
      plan->parts.push_back(
          {.row = row,
           .span = {.first = std::max(Within(begin, length, end), least), .count = length}});
    }
  }
  plan->parts_per_row = static_cast<uint32_t>(count);
}

// Transforms lie one behind the other in whole pieces, at several places of each row.
void AddSparse(const Extent& extent, const SampleSpan& span, uint64_t length, Plan* plan) {
  const uint64_t pieces = (length + extent.piece_samples - 1) / extent.piece_samples;
  const uint64_t most = std::max<uint64_t>(MostPieces(extent) / pieces, 1);  // places in all
  plan->rows = static_cast<uint32_t>(std::min<uint64_t>(plan->rows, most));
  const Rows rows(span, plan->rows);
  const uint64_t places = std::min(most / plan->rows, kMostParts);
  const uint64_t fit = pieces * extent.piece_samples / length;
  const uint64_t count = std::min(fit, (kMostParts + places - 1) / places);
  for (uint32_t row = 0; row < plan->rows; ++row) {
    for (uint64_t place = 0; place < places; ++place) {
      const uint64_t around = PiecesAround(extent, rows.Middle(row, place, places), pieces);
      const uint64_t begin = Within(around, count * length, extent.samples);
      for (uint64_t n = 0; n < count; ++n) {
        plan->parts.push_back({.row = row, .span = {.first = begin + n * length, .count = length}});
      }
    }
  }
  plan->parts_per_row = static_cast<uint32_t>(places * count);
}

// All of a row, in parts that can be fetched.
void AddWhole(const Extent& extent, const SampleSpan& row_span, uint32_t row, Plan* plan) {
  const uint64_t step = kBatchBytes / extent.sample_bytes;
  for (uint64_t first = row_span.first; first < row_span.end(); first += step) {
    const uint64_t count = std::min(step, row_span.end() - first);
    plan->parts.push_back({.row = row, .span = {.first = first, .count = count}});
  }
}

uint64_t BytesOf(const Part& part, const Extent& extent) {
  return (part.span.count + extent.piece_samples) * extent.sample_bytes;
}

}  // namespace

Plan PlanTransforms(const Extent& extent, const SampleSpan& span, uint32_t rows, uint64_t length) {
  Plan plan{.rows = rows};
  if (IsLittle(extent, std::max(span.count, length))) {
    AddDense(extent, span, length, &plan);
  } else {
    AddSparse(extent, span, length, &plan);
  }
  plan.samples_per_row = static_cast<double>(span.count) / plan.rows;
  return plan;
}

Plan PlanStretches(const Extent& extent, const SampleSpan& span, uint32_t rows) {
  Plan plan{.rows = static_cast<uint32_t>(std::min<uint64_t>(rows, span.count))};
  const bool all = IsLittle(extent, span.count);
  if (!all) plan.rows = static_cast<uint32_t>(std::min(uint64_t{plan.rows}, MostPieces(extent)));
  const Rows each(span, plan.rows);
  const uint64_t places = std::min(MostPieces(extent) / plan.rows, kMostParts);
  for (uint32_t row = 0; row < plan.rows; ++row) {
    const uint64_t begin = each.Begin(row);
    const uint64_t end = row + 1 == plan.rows ? span.end() : each.Begin(row + 1);
    if (all) {
      AddWhole(extent, {.first = begin, .count = end - begin}, row, &plan);
      continue;
    }
    for (uint64_t place = 0; place < places; ++place) {
      const uint64_t around = PiecesAround(extent, each.Middle(row, place, places), 1);
      const uint64_t first = std::max(around, begin);
      const uint64_t last = std::min(around + extent.piece_samples, end);
      if (first < last) plan.parts.push_back({row, {.first = first, .count = last - first}});
    }
  }
  plan.parts_per_row = static_cast<uint32_t>(places);
  plan.samples_per_row = static_cast<double>(span.count) / plan.rows;
  return plan;
}

absl::Status ReadParts(const Plan& plan, const Extent& extent, Pieces& pieces,
                       absl::FunctionRef<void(const Part&)> take) {
  for (auto begin = plan.parts.begin(); begin != plan.parts.end();) {
    std::vector<SampleSpan> spans;
    uint64_t bytes = 0;
    auto end = begin;
    for (; end != plan.parts.end() && (spans.empty() || bytes < kBatchBytes); ++end) {
      spans.push_back(end->span);
      bytes += BytesOf(*end, extent);
    }
    TD_RETURN_IF_ERROR(pieces.Fetch(spans));
    std::for_each(begin, end, take);
    begin = end;
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::view
