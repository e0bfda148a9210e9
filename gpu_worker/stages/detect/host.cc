#include "gpu_worker/stages/detect/transform.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/detect/alarm.h"
#include "gpu_worker/stages/detect/list.h"
#include "gpu_worker/stages/fft/list.h"
#include "services/base/errors.h"
#include "services/signal/samples/window.h"

namespace tapedeck::gpu_worker::stages::detect {
namespace {

using dataplane::Memory;
using dataplane::Triggers;

constexpr size_t kSampleBytes = 8;       // cf32_le
constexpr size_t kBlockMultiple = 4096;  // of the bytes of every block

struct Parts {
  std::unique_ptr<fft::Weigher> weigher;
  std::unique_ptr<fft::Fft> fft;
  std::unique_ptr<Summer> summer;
  std::unique_ptr<Memory> scratch;  // a block that is transformed
};

class DetectTransform final : public Transform {
 public:
  DetectTransform(const Parameters& parameters, const TransformPlace& place, Parts parts)
      : points_(parameters.points),
        device_(*place.device),
        queue_(*place.queue),
        most_(place.block_bytes / granule_bytes()),
        parts_(std::move(parts)),
        alarm_(parameters) {}

  size_t granule_bytes() const override { return points_ * kSampleBytes; }

  absl::Status Apply(std::span<std::byte> in, std::span<std::byte> /*out*/) override {
    const size_t transforms = in.size() / granule_bytes();
    std::byte* const scratch = parts_.scratch->window().bytes.data();
    TD_RETURN_IF_ERROR(parts_.summer->Copy(scratch, in.data(), in.size()));
    TD_RETURN_IF_ERROR(parts_.weigher->Multiply(scratch, transforms));
    TD_RETURN_IF_ERROR(parts_.fft->Forward(scratch, transforms));
    TD_ASSIGN_OR_RETURN(Powers powers, TakePowers());
    powers.count = transforms;
    std::byte* const on_device = powers.on_device->window().bytes.data();
    TD_RETURN_IF_ERROR(
        parts_.summer->Sum(scratch, transforms, reinterpret_cast<float*>(on_device)));
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
                                                           const TransformPlace& place) {
  const size_t granule_bytes = parameters.points * kSampleBytes;
  if (place.block_bytes % granule_bytes != 0) {
    return services::ArgumentInvalid(
        "detect.points", absl::StrCat("detect: a block of ", place.block_bytes,
                                      " bytes does not hold whole transforms of ",
                                      parameters.points, " cf32_le points; a multiple of ",
                                      std::lcm(granule_bytes, kBlockMultiple), " bytes does"));
  }
  const std::vector<double> exact =
      services::samples::WindowWeights(parameters.window, parameters.points);
  device::Device& device = *place.device;
  Parts parts;
  TD_ASSIGN_OR_RETURN(parts.fft, fft::Create({.points = parameters.points,
                                              .transforms = place.block_bytes / granule_bytes},
                                             device, *place.queue));
  TD_ASSIGN_OR_RETURN(parts.weigher,
                      fft::CreateWeigher({exact.begin(), exact.end()}, device, *place.queue));
  TD_ASSIGN_OR_RETURN(parts.summer, CreateSummer(BandOf(parameters), device, *place.queue));
  TD_ASSIGN_OR_RETURN(parts.scratch, device.NewDeviceMemory(place.block_bytes));
  return std::make_unique<DetectTransform>(parameters, place, std::move(parts));
}

}  // namespace tapedeck::gpu_worker::stages::detect
