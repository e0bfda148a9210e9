#include "storage_node/view/plan.h"

#include <algorithm>

#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::view {
namespace {

using services::SampleSpan;

// Of parts that are fetched together.
constexpr uint64_t kBatchBytes = 4 << 20;
// Of a part for transforms, but for the overlap.
constexpr uint64_t kPartSamples = 1 << 17;

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
  SampleSpan Of(uint32_t row, uint32_t rows, const SampleSpan& all) const {
    const uint64_t begin = Begin(row);
    return {.first = begin, .count = (row + 1 == rows ? all.end() : Begin(row + 1)) - begin};
  }

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
  const uint64_t first = piece - std::min(piece, count / 2);
  return block * extent.block_samples + std::min(first, last) * extent.piece_samples;
}

// So that it ends within `end`.
uint64_t Within(uint64_t begin, uint64_t length, uint64_t end) {
  return std::min(begin, end - std::min(length, end));
}

// Transforms from `span` on, in parts that can be fetched; the last of them ends with it.
void AddTransforms(const SampleSpan& span, uint32_t row, const Steps& steps, Plan* plan) {
  const uint64_t step = std::max(steps.hop, kPartSamples / steps.hop * steps.hop);
  const uint64_t overlap = steps.length - steps.hop;
  for (uint64_t at = span.first; at == span.first || at + overlap < span.end(); at += step) {
    const uint64_t end = std::min(at + step + overlap, span.end());
    const uint64_t begin = std::min(at, end - steps.length);
    plan->parts.push_back({.row = row, .span = {.first = begin, .count = end - begin}});
  }
}

// From half a transform before the row to half of one behind it, within `room`; so a signal at the
// row's edge is in the middle of one.
SampleSpan AroundRow(const SampleSpan& row, uint64_t middle, const SampleSpan& room,
                     const Steps& steps) {
  const uint64_t half = steps.length / 2;
  SampleSpan around{.first = row.first - std::min(row.first, half),
                    .count = std::min(row.first, half) + row.count + half};
  if (row.count < steps.hop) around = {middle - std::min(middle, half), steps.length};
  const uint64_t first = std::max(Within(around.first, steps.length, room.end()), room.first);
  const uint64_t end = std::max(std::min(around.end(), room.end()), first + steps.length);
  return {.first = first, .count = end - first};
}

// The spectra that begin in the row, with the one that it begins in.
SampleSpan SpectraIn(const SampleSpan& row, bool last, uint64_t grid, uint64_t samples) {
  const uint64_t begin = row.first / grid;
  const uint64_t end = (row.end() + (last ? grid - 1 : 0)) / grid;
  const uint64_t until = std::min(std::max(end, begin + 1), samples / grid);
  return {.first = begin * grid, .count = (until - std::min(begin, until)) * grid};
}

void AddDense(const Extent& extent, const SampleSpan& span, const Steps& steps, Plan* plan) {
  const Rows rows(span, plan->rows);
  // What is asked for, and beyond it where it is shorter than a transform.
  const uint64_t end = std::max(span.end(), std::min(span.first + steps.length, extent.samples));
  const uint64_t least = Within(span.first, steps.length, end);
  for (uint32_t row = 0; row < plan->rows; ++row) {
    const SampleSpan own = rows.Of(row, plan->rows, span);
    const bool last = row + 1 == plan->rows;
    const SampleSpan shown =
        steps.grid > 1 ? SpectraIn(own, last, steps.grid, extent.samples)
                       : AroundRow(own, rows.Middle(row, 0, 1), {least, end - least}, steps);
    if (shown.count > 0) AddTransforms(shown, row, steps, plan);
  }
  plan->covered = span.count;
}

// Pieces side by side that are read at each of several places of every row.
struct Places {
  Places(const Extent& extent, const Steps& steps, uint32_t rows_wanted) {
    const uint64_t piece = extent.piece_samples;
    // Where the grid is none of pieces, transforms reach into one more.
    const uint64_t more = steps.grid % piece != 0 && piece % steps.grid != 0 ? 1 : 0;
    const uint64_t least = (steps.length + piece - 1) / piece + more;
    const uint64_t most = std::max(MostPieces(extent), least);
    rows = static_cast<uint32_t>(std::min<uint64_t>(rows_wanted, most / least));
    const uint64_t of_row = std::max(std::min(most, kMostTransformed / piece) / rows, least);
    const uint64_t few = std::min(of_row / least, kMostParts);
    pieces = std::clamp(of_row / few, least,
                        std::max(least, extent.block_samples / extent.piece_samples));
    of_each_row = of_row / pieces;
    room = (pieces - more) * piece;
    const uint64_t allowed = kMostTransformed / (rows * of_each_row);
    samples = std::max(steps.length, std::min(room, allowed)) / steps.grid * steps.grid;
  }

  uint32_t rows = 0;  // as wanted, or fewer
  uint64_t of_each_row = 0;
  uint64_t pieces = 0;
  uint64_t room = 0;     // of them, in samples
  uint64_t samples = 0;  // that are transformed
};

void AddSparse(const Extent& extent, const SampleSpan& span, const Steps& steps, Plan* plan) {
  const Places places(extent, steps, plan->rows);
  plan->rows = places.rows;
  const Rows rows(span, plan->rows);
  for (uint32_t row = 0; row < plan->rows; ++row) {
    for (uint64_t n = 0; n < places.of_each_row; ++n) {
      const uint64_t middle = rows.Middle(row, n, places.of_each_row);
      const uint64_t around = PiecesAround(extent, middle, places.pieces);
      const uint64_t begin = std::clamp(middle - std::min(middle, places.samples / 2), around,
                                        around + places.room - places.samples);
      const uint64_t first = Within(begin, places.samples, extent.samples);
      AddTransforms({.first = first / steps.grid * steps.grid, .count = places.samples}, row, steps,
                    plan);
    }
  }
  plan->covered = std::min(span.count, plan->rows * places.of_each_row * places.samples);
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

Plan PlanTransforms(const Extent& extent, const SampleSpan& span, uint32_t rows,
                    const Steps& steps) {
  // Of spectra no row repeats the one before.
  const uint64_t most_rows = steps.grid > 1 ? (span.count + steps.grid - 1) / steps.grid : rows;
  Plan plan{.rows = static_cast<uint32_t>(std::min<uint64_t>(rows, most_rows))};
  const uint64_t samples = std::max(span.count, steps.length);
  if (IsLittle(extent, samples) && samples <= kMostTransformed) {
    AddDense(extent, span, steps, &plan);
  } else {
    AddSparse(extent, span, steps, &plan);
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
    const SampleSpan own = each.Of(row, plan.rows, span);
    if (all) {
      AddWhole(extent, own, row, &plan);
      continue;
    }
    for (uint64_t place = 0; place < places; ++place) {
      const uint64_t around = PiecesAround(extent, each.Middle(row, place, places), 1);
      const uint64_t first = std::max(around, own.first);
      const uint64_t last = std::min(around + extent.piece_samples, own.end());
      if (first < last) plan.parts.push_back({row, {.first = first, .count = last - first}});
    }
  }
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
