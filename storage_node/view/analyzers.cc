#include "storage_node/view/analyzers.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "dataplane/status_macros.h"
#include "services/signal/samples/conversion.h"
#include "services/signal/samples/reference_fft.h"
#include "services/signal/samples/window.h"
#include "storage_node/view/rows.h"

namespace tapedeck::storage_node::view {
namespace {

using dataplane::Datatype;
using services::samples::Conversion;
using services::samples::Radix4Fft;
using services::samples::SplitComplex;
using services::samples::Workspace;

constexpr Datatype kNumbers = {.complex = true, .kind = Datatype::Kind::kFloat, .bits = 64};

// Of samples in time.
class Transforms final : public Analyzer {
 public:
  // Of `length` samples each, filled up with zeros to what the columns take.
  Transforms(const Conversion& conversion, bool complex, uint32_t columns, uint64_t length)
      : conversion_(conversion),
        complex_(complex),
        steps_{.length = length, .hop = std::max<uint64_t>(length / 2, 1)},
        fft_(complex ? columns : 2 * columns),
        weights_(services::samples::WindowWeights("hann", static_cast<uint32_t>(length))),
        numbers_(2 * length),
        transformed_(complex ? columns : 2 * columns),
        powers_(columns) {
    const double weight = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    scale_ = 1 / (weight * weight);
  }

  const Steps& steps() const override { return steps_; }
  uint32_t columns() const override { return static_cast<uint32_t>(powers_.size()); }
  std::span<const double> Powers(std::span<const std::byte> samples) override;

 private:
  const Conversion conversion_;
  const bool complex_;
  const Steps steps_;
  const Radix4Fft fft_;
  const std::vector<double> weights_;
  double scale_ = 1;
  std::vector<double> numbers_;
  SplitComplex transformed_;
  Workspace workspace_;
  std::vector<double> powers_;
};

std::span<const double> Transforms::Powers(std::span<const std::byte> samples) {
  auto& [real, imaginary] = transformed_;
  conversion_.Run(samples, std::as_writable_bytes(std::span(numbers_)).data());
  for (size_t n = 0; n < weights_.size(); ++n) {
    real[n] = numbers_[2 * n] * weights_[n];
    imaginary[n] = numbers_[2 * n + 1] * weights_[n];
  }
  std::fill(real.begin() + static_cast<ptrdiff_t>(weights_.size()), real.end(), 0.0);
  std::fill(imaginary.begin() + static_cast<ptrdiff_t>(weights_.size()), imaginary.end(), 0.0);
  fft_.Forward(real, imaginary, workspace_);
  const size_t columns = powers_.size();
  for (size_t column = 0; column < columns; ++column) {
    const size_t bin = complex_ ? (column + columns / 2) % columns : column;
    // Of a real tone one half has a negative frequency, which no column shows.
    const double halves = complex_ || column == 0 ? 1 : 4;
    powers_[column] = (real[bin] * real[bin] + imaginary[bin] * imaginary[bin]) * scale_ * halves;
  }
  return powers_;
}

// Of recorded spectra, whose bin 0 is the middle of the band.
class Bins final : public Analyzer {
 public:
  Bins(const Conversion& conversion, const Spectra& spectra, uint32_t columns)
      : conversion_(conversion),
        spectra_(spectra),
        steps_{.length = spectra.points, .hop = spectra.points, .grid = spectra.points},
        numbers_(2 * size_t{spectra.points}),
        powers_(std::min(columns, spectra.points)) {
    for (uint32_t bin = 0; bin < spectra.points; ++bin) columns_.push_back(ColumnOf(bin));
  }

  const Steps& steps() const override { return steps_; }
  uint32_t columns() const override { return static_cast<uint32_t>(powers_.size()); }
  std::span<const double> Powers(std::span<const std::byte> samples) override;

 private:
  // The nearest one: the upper half of the bins are negative frequencies.
  uint32_t ColumnOf(uint32_t bin) const {
    const uint64_t points = spectra_.points;
    const uint64_t count = powers_.size();
    const uint64_t from_middle = (bin * count + points / 2) / points;
    return static_cast<uint32_t>((from_middle + count / 2) % count);
  }

  const Conversion conversion_;
  const Spectra spectra_;
  const Steps steps_;
  std::vector<double> numbers_;
  std::vector<uint32_t> columns_;  // of each bin
  std::vector<double> powers_;
};

std::span<const double> Bins::Powers(std::span<const std::byte> samples) {
  conversion_.Run(samples, std::as_writable_bytes(std::span(numbers_)).data());
  std::ranges::fill(powers_, 0.0);
  for (size_t bin = 0; bin < columns_.size(); ++bin) {
    const double real = numbers_[2 * bin];
    const double imaginary = numbers_[2 * bin + 1];
    const double power = spectra_.powers ? real : real * real + imaginary * imaginary;
    double& greatest = powers_[columns_[bin]];
    greatest = GreaterPower(greatest, power);
  }
  for (double& power : powers_) power /= spectra_.full_scale;
  return powers_;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Analyzer>> AnalyzerFor(const Spectra& spectra,
                                                      const Datatype& datatype, uint32_t columns,
                                                      uint64_t samples) {
  TD_ASSIGN_OR_RETURN(const Conversion conversion, Conversion::Between(datatype, kNumbers));
  if (spectra.points > 0) return std::make_unique<Bins>(conversion, spectra, columns);
  const uint64_t points = uint64_t{columns} * (datatype.complex ? 1 : 2);
  return std::make_unique<Transforms>(conversion, datatype.complex, columns,
                                      std::min(points, samples));
}

}  // namespace tapedeck::storage_node::view
