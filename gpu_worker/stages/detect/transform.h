// The detect stage: leaves samples as they are, and triggers where the power in a band rises above
// a threshold. The power is that of one transform of `points` samples, |X|^2 added up over the
// band's bins and divided by `points` and the sum of the window's squares, which over all bins is
// the mean of |x|^2 (Parseval); what triggers is the first sample of a transform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gpu_worker/stages/kind.h"

namespace tapedeck::gpu_worker::stages::detect {

inline constexpr char kName[] = "detect";

struct Parameters {
  uint32_t points = 1024;  // of a transform, which is looked at as a whole; as of fft
  std::string window = "hann";
  // The band, as fractions of the sample rate: -0.5 to 0.5, the lower one first.
  double low = -0.5;
  double high = 0.5;
  // Decibels of the mean power in the band; 0 is that of a tone with amplitude 1. It must be told.
  double threshold = std::numeric_limits<double>::quiet_NaN();
  double hysteresis = 3;  // decibels below the threshold
  uint64_t hold_off = 0;  // samples
};

absl::StatusOr<Parameters> Parse(const services::StageParameters& given);

Description Describe(const Parameters& parameters);

// INVALID_ARGUMENT (ARGUMENT_INVALID) unless a block holds whole transforms; also the errors of
// MakeFor and of fft's.
absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformSetup& setup);

// When the power of a band triggers. One thread. Powers are linear, those of a stream in order.
class Alarm {
 public:
  explicit Alarm(const Parameters& parameters);

  // Of a transform that begins at `sample`. It triggers if it reaches the threshold while the one
  // before it had not, or was the first that fell below the threshold by the hysteresis, and less
  // than the hold-off ago nothing has.
  bool Look(float power, uint64_t sample);

 private:
  const double threshold_;
  const double release_;
  const uint64_t hold_off_;
  bool above_ = false;
  std::optional<uint64_t> last_;  // that triggered
};

// Which bins of a transform are added up.
struct Band {
  uint32_t points = 0;  // of a transform
  uint32_t first = 0;   // bin; those behind it follow, after the last one bin 0
  uint32_t bins = 0;    // 1 to points
  double scale = 1;     // of the sum of their |X|^2

  constexpr uint32_t Bin(uint32_t i) const {
    const uint32_t bin = first + i;
    return bin < points ? bin : bin - points;
  }
};

// The bins nearest to the band's ends and those between, one at least.
Band BandOf(const Parameters& parameters);

// The seam to what adds up a band on a device. Bound to a pipeline's queue. Used by the thread that
// enqueues there; everything lies in memory of the device.
class BandPower {
 public:
  virtual ~BandPower() = default;

  // Enqueues the copy of samples that are to be transformed.
  virtual absl::Status Copy(std::byte* to, const std::byte* samples, size_t bytes) = 0;

  // Enqueues the power in the band, of each of `count` transforms that lie one after another.
  virtual absl::Status Sum(const std::byte* spectra, size_t count, float* powers) = 0;
};

namespace cuda {

// One kernel per block. `queue` is one of the device.
absl::StatusOr<std::unique_ptr<BandPower>> Create(const Band& band, device::Queue& queue);

}  // namespace cuda
}  // namespace tapedeck::gpu_worker::stages::detect
