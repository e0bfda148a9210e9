#include "gpu_worker/stages/fft/transform.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/list.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages::fft {
namespace {

constexpr size_t kSampleBytes = 8;       // cf32_le
constexpr size_t kBlockMultiple = 4096;  // of the bytes of every block

class FftTransform final : public Transform {
 public:
  // `weigher` null: no window.
  FftTransform(uint32_t points, std::unique_ptr<Weigher> weigher, std::unique_ptr<Fft> fft)
      : granule_bytes_(points * kSampleBytes), weigher_(std::move(weigher)), fft_(std::move(fft)) {}

  size_t granule_bytes() const override { return granule_bytes_; }

  absl::Status Apply(std::span<std::byte> /*in*/, std::span<std::byte> out) override {
    const size_t transforms = out.size() / granule_bytes_;
    if (weigher_ != nullptr) TD_RETURN_IF_ERROR(weigher_->Multiply(out.data(), transforms));
    return fft_->Forward(out.data(), transforms);
  }

 private:
  const size_t granule_bytes_;
  const std::unique_ptr<Weigher> weigher_;
  const std::unique_ptr<Fft> fft_;
};

absl::StatusOr<std::unique_ptr<Weigher>> WeigherOf(const Parameters& parameters,
                                                   const TransformPlace& place) {
  if (parameters.window == services::samples::kNoWindow) return nullptr;
  const std::vector<double> exact =
      services::samples::WindowWeights(parameters.window, parameters.points);
  return CreateWeigher({exact.begin(), exact.end()}, *place.device, *place.queue);
}

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
  const Plan plan{.points = points,
                  .transforms = place.at_once * place.block_bytes / granule_bytes};
  TD_ASSIGN_OR_RETURN(auto fft, Create(plan, *place.device, *place.queue));
  TD_ASSIGN_OR_RETURN(auto weigher, WeigherOf(parameters, place));
  return std::make_unique<FftTransform>(points, std::move(weigher), std::move(fft));
}

}  // namespace tapedeck::gpu_worker::stages::fft
