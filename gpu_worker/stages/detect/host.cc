#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/detect/transform.h"
#include "gpu_worker/stages/fft/fft.h"
#include "gpu_worker/stages/for_device.h"
#include "gpu_worker/stages/parameters.h"
#include "services/base/errors.h"
#include "services/signal/samples/window.h"

namespace tapedeck::gpu_worker::stages::detect {

using dataplane::Memory;
using dataplane::Triggers;

namespace {

// Floats have no more.
constexpr double kMostDecibels = 400;
constexpr size_t kSampleBytes = 8;       // cf32_le
constexpr size_t kBlockMultiple = 4096;  // of the bytes of every block

double Linear(double decibels) { return std::pow(10, decibels / 10); }

// Computes on the work thread.
class HostBandPower final : public BandPower {
 public:
  explicit HostBandPower(const Band& band) : band_(band) {}

  absl::Status Copy(std::byte* to, const std::byte* samples, size_t bytes) override {
    std::memcpy(to, samples, bytes);
    return absl::OkStatus();
  }

  absl::Status Sum(const std::byte* spectra, size_t count, float* powers) override {
    const auto* parts = reinterpret_cast<const float*>(spectra);
    for (size_t i = 0; i < count; ++i, parts += 2 * size_t{band_.points}) {
      double sum = 0;
      for (uint32_t bin = 0; bin < band_.bins; ++bin) {
        const float* const part = parts + 2 * size_t{band_.Bin(bin)};
        sum += static_cast<double>(part[0]) * part[0] + static_cast<double>(part[1]) * part[1];
      }
      powers[i] = static_cast<float>(sum * band_.scale);
    }
    return absl::OkStatus();
  }

 private:
  const Band band_;
};

absl::StatusOr<std::unique_ptr<BandPower>> CreateOnHost(const Band& band,
                                                        device::Queue& /*queue*/) {
  return std::make_unique<HostBandPower>(band);
}

struct Parts {
  std::unique_ptr<fft::FftWindow> window;
  std::unique_ptr<fft::Fft> fft;
  std::unique_ptr<BandPower> band_power;
  std::unique_ptr<Memory> scratch;  // a block that is transformed
};

class DetectTransform final : public Transform {
 public:
  DetectTransform(const Parameters& parameters, const TransformSetup& setup, Parts parts)
      : points_(parameters.points),
        device_(*setup.device),
        queue_(*setup.queue),
        most_(setup.block_bytes / granule_bytes()),
        parts_(std::move(parts)),
        alarm_(parameters) {}

  size_t granule_bytes() const override { return points_ * kSampleBytes; }

  absl::Status Apply(std::span<std::byte> in, std::span<std::byte> /*out*/) override {
    const size_t transforms = in.size() / granule_bytes();
    std::byte* const scratch = parts_.scratch->window().bytes.data();
    TD_RETURN_IF_ERROR(parts_.band_power->Copy(scratch, in.data(), in.size()));
    TD_RETURN_IF_ERROR(parts_.window->Multiply(scratch, transforms));
    TD_RETURN_IF_ERROR(parts_.fft->Forward(scratch, transforms));
    TD_ASSIGN_OR_RETURN(Powers powers, TakePowers());
    powers.count = transforms;
    std::byte* const on_device = powers.on_device->window().bytes.data();
    TD_RETURN_IF_ERROR(
        parts_.band_power->Sum(scratch, transforms, reinterpret_cast<float*>(on_device)));
    std::byte* const on_host = powers.on_host->window().bytes.data();
    TD_RETURN_IF_ERROR(queue_.CopyToHost(on_host, on_device, transforms * sizeof(float)));
    underway_.push_back(std::move(powers));
    return absl::OkStatus();
  }

  std::optional<Triggers> Find(uint64_t first_sample) override {
    if (underway_.empty()) return std::nullopt;
    const Powers& powers = underway_.front();
    const auto* values = reinterpret_cast<const float*>(powers.on_host->window().bytes.data());
    std::optional<Triggers> found;
    for (size_t i = 0; i < powers.count; ++i) {
      const auto sample = static_cast<uint32_t>(i * points_);
      if (!alarm_.Look(values[i], first_sample + sample)) continue;
      found = Triggers{.first = found.value_or(Triggers{.first = sample}).first, .last = sample};
    }
    free_.push_back(std::move(underway_.front()));
    underway_.pop_front();
    return found;
  }

 private:
  // Of one block.
  struct Powers {
    std::unique_ptr<Memory> on_device;
    std::unique_ptr<Memory> on_host;
    size_t count = 0;
  };

  // There are never more than blocks under way.
  absl::StatusOr<Powers> TakePowers() {
    Powers powers;
    if (!free_.empty()) {
      powers = std::move(free_.back());
      free_.pop_back();
      return powers;
    }
    TD_ASSIGN_OR_RETURN(powers.on_device, device_.NewDeviceMemory(most_ * sizeof(float)));
    TD_ASSIGN_OR_RETURN(powers.on_host, device_.NewHostMemory(most_ * sizeof(float)));
    return powers;
  }

  const uint32_t points_;
  device::Device& device_;
  device::Queue& queue_;
  const size_t most_;  // transforms of a block
  const Parts parts_;
  Alarm alarm_;
  std::deque<Powers> underway_;
  std::vector<Powers> free_;
};

}  // namespace

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader(kName, given);
  reader.Whole("points", out.points);
  reader.Require(out.points >= fft::kMinPoints && out.points <= fft::kMaxPoints, "points",
                 absl::StrCat("a whole number from ", fft::kMinPoints, " to ", fft::kMaxPoints));
  reader.Text("window", out.window);
  reader.Require(absl::c_linear_search(services::samples::WindowNames(), out.window), "window",
                 absl::StrCat("one of ", absl::StrJoin(services::samples::WindowNames(), ", ")));
  reader.Number("low", out.low, -0.5, 0.5);
  reader.Number("high", out.high, -0.5, 0.5);
  reader.Require(out.low <= out.high, "high", "low or more");
  reader.Number("threshold", out.threshold, -kMostDecibels, kMostDecibels);
  reader.Require(!std::isnan(out.threshold), "threshold", "told, in decibels");
  reader.Number("hysteresis", out.hysteresis, 0, kMostDecibels);
  reader.Whole("hold_off", out.hold_off);
  TD_RETURN_IF_ERROR(reader.Finish());
  return out;
}

Description Describe(const Parameters& parameters) {
  return {.parameters = {{"points", absl::StrCat(parameters.points)},
                         {"window", parameters.window},
                         {"low", absl::StrCat(parameters.low)},
                         {"high", absl::StrCat(parameters.high)},
                         {"threshold", absl::StrCat(parameters.threshold)},
                         {"hysteresis", absl::StrCat(parameters.hysteresis)},
                         {"hold_off", absl::StrCat(parameters.hold_off)}},
          .takes = kTransformable,
          .gives = kTransformable,
          .triggers = true};
}

Alarm::Alarm(const Parameters& parameters)
    : threshold_(Linear(parameters.threshold)),
      release_(Linear(parameters.threshold - parameters.hysteresis)),
      hold_off_(parameters.hold_off) {}

// Where samples are no numbers, neither is the power: that changes nothing.
bool Alarm::Look(float power, uint64_t sample) {
  if (power < release_) above_ = false;
  if (above_ || !(power >= threshold_)) return false;
  above_ = true;
  if (last_.has_value() && sample - *last_ < hold_off_) return false;
  last_ = sample;
  return true;
}

Band BandOf(const Parameters& parameters) {
  const auto points = static_cast<int64_t>(parameters.points);
  const auto bin = [&](double frequency) {
    const int64_t nearest = std::llround(frequency * static_cast<double>(points));
    return std::clamp(nearest, -points / 2, (points - 1) / 2);
  };
  const int64_t first = bin(parameters.low);
  double squares = 0;
  for (const double weight :
       services::samples::WindowWeights(parameters.window, parameters.points)) {
    squares += weight * weight;
  }
  return {.points = parameters.points,
          .first = static_cast<uint32_t>((first + points) % points),
          .bins = static_cast<uint32_t>(bin(parameters.high) - first + 1),
          .scale = 1 / (squares * static_cast<double>(points))};
}

absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformSetup& setup) {
  const size_t granule_bytes = parameters.points * kSampleBytes;
  if (setup.block_bytes % granule_bytes != 0) {
    return services::ArgumentInvalid(
        "detect.points", absl::StrCat("detect: a block of ", setup.block_bytes,
                                      " bytes does not hold whole transforms of ",
                                      parameters.points, " cf32_le points; a multiple of ",
                                      std::lcm(granule_bytes, kBlockMultiple), " bytes does"));
  }
  const std::vector<double> exact =
      services::samples::WindowWeights(parameters.window, parameters.points);
  device::Device& device = *setup.device;
  Parts parts;
  TD_ASSIGN_OR_RETURN(parts.fft, fft::Create({.points = parameters.points,
                                              .transforms = setup.block_bytes / granule_bytes},
                                             device, *setup.queue));
  TD_ASSIGN_OR_RETURN(parts.window,
                      fft::CreateFftWindow({exact.begin(), exact.end()}, device, *setup.queue));
  TD_ASSIGN_OR_RETURN(parts.band_power, (MakeFor<&CreateOnHost, &cuda::Create>(
                                            device, kName, BandOf(parameters), *setup.queue)));
  TD_ASSIGN_OR_RETURN(parts.scratch, device.NewDeviceMemory(setup.block_bytes));
  return std::make_unique<DetectTransform>(parameters, setup, std::move(parts));
}

}  // namespace tapedeck::gpu_worker::stages::detect
