#include "gpu_worker/stages/fft/transform.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/list.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::stages::fft {
namespace {

constexpr size_t kSampleBytes = 8;       // cf32_le
constexpr size_t kBlockMultiple = 4096;  // of the bytes of every block

class FftTransform final : public Transform {
 public:
  FftTransform(uint32_t points, std::unique_ptr<Fft> fft)
      : granule_bytes_(points * kSampleBytes), fft_(std::move(fft)) {}

  size_t granule_bytes() const override { return granule_bytes_; }

  absl::Status Apply(std::span<std::byte> payload) override {
    return fft_->Forward(payload.data(), payload.size() / granule_bytes_);
  }

 private:
  const size_t granule_bytes_;
  const std::unique_ptr<Fft> fft_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformPlace& place) {
  const uint32_t points = parameters.points;
  const size_t granule_bytes = points * kSampleBytes;
  if (place.block_bytes % granule_bytes != 0) {
    return services::ArgumentInvalid(
        "fft.points", absl::StrCat("fft: a block of ", place.block_bytes,
                                   " bytes does not hold whole transforms of ", points,
                                   " cf32_le points; a multiple of ",
                                   std::lcm(granule_bytes, kBlockMultiple), " bytes does"));
  }
  const Plan plan{.points = points, .transforms = place.block_bytes / granule_bytes};
  TD_ASSIGN_OR_RETURN(auto fft, Create(plan, *place.device, *place.queue));
  return std::make_unique<FftTransform>(points, std::move(fft));
}

}  // namespace tapedeck::gpu_worker::stages::fft
