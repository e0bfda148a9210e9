#include "storage_node/view/spectrogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "dataplane/status_macros.h"
#include "services/samples/conversion.h"
#include "services/samples/reference_fft.h"
#include "storage_node/view/plan.h"
#include "storage_node/view/timeline.h"

namespace tapedeck::storage_node::view {
namespace {

using services::samples::Conversion;
using services::samples::Parts;
using services::samples::Radix4Fft;
using services::samples::Room;

constexpr double kLeastDb = -200;
constexpr dataplane::Datatype kNumbers = {
    .complex = true, .kind = dataplane::Datatype::Kind::kFloat, .bits = 64};

// Transforms, and the mean of their powers. One thread.
class Averager {
 public:
  // Of `length` samples each, filled up with zeros to what the columns take.
  Averager(const Conversion& conversion, bool complex, uint32_t columns, uint64_t length)
      : conversion_(conversion),
        complex_(complex),
        columns_(columns),
        fft_(complex ? columns : 2 * columns),
        numbers_(2 * length),
        transformed_(complex ? columns : 2 * columns),
        sums_(columns) {
    for (uint64_t n = 0; n < length; ++n) {
      const double turn = static_cast<double>(n) / static_cast<double>(length);
      weights_.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * turn));
      weight_ += weights_.back();
    }
  }

  void Add(std::span<const std::byte> samples);

  // Of what was added since the last one; NaN if that is nothing.
  void TakeRow(std::span<float> row);

 private:
  const Conversion conversion_;
  const bool complex_;
  const uint32_t columns_;
  const Radix4Fft fft_;
  std::vector<double> weights_;
  double weight_ = 0;  // sum of them
  std::vector<double> numbers_;
  Parts transformed_;
  Room room_;
  std::vector<double> sums_;  // of powers, by column
  uint64_t added_ = 0;
};

void Averager::Add(std::span<const std::byte> samples) {
  auto& [real, imaginary] = transformed_;
  conversion_.Run(samples, std::as_writable_bytes(std::span(numbers_)).data());
  for (size_t n = 0; n < weights_.size(); ++n) {
    real[n] = numbers_[2 * n] * weights_[n];
    imaginary[n] = numbers_[2 * n + 1] * weights_[n];
  }
  std::fill(real.begin() + static_cast<ptrdiff_t>(weights_.size()), real.end(), 0.0);
  std::fill(imaginary.begin() + static_cast<ptrdiff_t>(weights_.size()), imaginary.end(), 0.0);
  fft_.Forward(real, imaginary, room_);
  for (uint32_t column = 0; column < columns_; ++column) {
    const uint32_t bin = complex_ ? (column + columns_ / 2) % columns_ : column;
    sums_[column] += real[bin] * real[bin] + imaginary[bin] * imaginary[bin];
  }
  ++added_;
}

void Averager::TakeRow(std::span<float> row) {
  if (added_ == 0) {
    std::ranges::fill(row, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  const double scale = 1 / (weight_ * weight_ * static_cast<double>(added_));
  for (uint32_t column = 0; column < columns_; ++column) {
    // Of a real tone one half has a negative frequency, which no column shows.
    const double halves = complex_ || column == 0 ? 1 : 4;
    const double power = sums_[column] * scale * halves;
    const double db = power > 0 ? 10 * std::log10(power) : kLeastDb;
    row[column] = static_cast<float>(std::isnan(power) ? power : std::max(db, kLeastDb));
  }
  std::ranges::fill(sums_, 0.0);
  added_ = 0;
}

}  // namespace

absl::StatusOr<services::Spectrogram> MakeSpectrogram(Opened& opened,
                                                      const services::SpectrogramRequest& request) {
  const Extent& extent = opened.extent();
  TD_ASSIGN_OR_RETURN(const services::SampleSpan span, opened.Resolve(request.span));
  TD_ASSIGN_OR_RETURN(const Conversion conversion, Conversion::Between(extent.datatype, kNumbers));
  const bool complex = extent.datatype.complex;
  const uint64_t points = uint64_t{request.columns} * (complex ? 1 : 2);
  const uint64_t length = std::min(points, extent.samples);
  const uint32_t most_rows = services::kMostPowers / request.columns;
  const Plan plan = PlanTransforms(extent, span, std::min(request.rows, most_rows), length);
  Averager averager(conversion, complex, request.columns, length);
  services::Spectrogram made{.columns = request.columns,
                             .rows = plan.rows,
                             .span = span,
                             .samples_per_row = plan.samples_per_row,
                             .powers = std::vector<float>(size_t{plan.rows} * request.columns),
                             .sample_rate = opened.manifest().sample_rate,
                             .frequency = FrequencyOf(opened.annotations()),
                             .transforms_per_row = plan.parts_per_row,
                             .complex = complex};
  std::vector<std::byte> samples(length * extent.sample_bytes);
  uint32_t row = 0;
  const auto end_rows = [&](uint32_t before) {
    for (; row < before; ++row) {
      averager.TakeRow(
          std::span(made.powers).subspan(size_t{row} * request.columns, request.columns));
    }
  };
  TD_RETURN_IF_ERROR(ReadParts(plan, extent, opened.pieces(), [&](const Part& part) {
    end_rows(part.row);
    size_t there = 0;
    opened.pieces().Visit(part.span, [&](uint64_t first, std::span<const std::byte> run) {
      std::ranges::copy(run, samples.begin() + static_cast<ptrdiff_t>((first - part.span.first) *
                                                                      extent.sample_bytes));
      there += run.size();
    });
    if (there == samples.size()) averager.Add(samples);
  }));
  end_rows(plan.rows);
  made.bytes_read = opened.pieces().bytes_read();
  made.damaged_pieces = opened.pieces().damaged();
  return made;
}

}  // namespace tapedeck::storage_node::view
