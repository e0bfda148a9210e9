#include "gpu_worker/stages/fft/kissfft/fft.h"

#include <kissfft/kiss_fft.h>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace tapedeck::gpu_worker::stages::fft::kissfft {
namespace {

static_assert(std::is_same_v<kiss_fft_scalar, float>, "cf32_le");

struct ConfigDeleter {
  void operator()(kiss_fft_cfg config) const { kiss_fft_free(config); }
};
using UniqueConfig = std::unique_ptr<std::remove_pointer_t<kiss_fft_cfg>, ConfigDeleter>;

class KissFft final : public Fft {
 public:
  KissFft(uint32_t points, UniqueConfig config) : config_(std::move(config)), scratch_(points) {}

  // In place kissfft would allocate for each transform.
  absl::Status Forward(std::byte* data, size_t count) override {
    auto* transform = reinterpret_cast<kiss_fft_cpx*>(data);
    for (size_t i = 0; i < count; ++i, transform += scratch_.size()) {
      std::copy_n(transform, scratch_.size(), scratch_.data());
      kiss_fft(config_.get(), scratch_.data(), transform);
    }
    return absl::OkStatus();
  }

 private:
  const UniqueConfig config_;
  std::vector<kiss_fft_cpx> scratch_;  // of one transform
};

}  // namespace

absl::Status Usable() { return absl::OkStatus(); }

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, device::Queue& /*queue*/) {
  constexpr int kForward = 0;
  UniqueConfig config(kiss_fft_alloc(static_cast<int>(plan.points), kForward, nullptr, nullptr));
  if (config == nullptr) return absl::ResourceExhaustedError("kiss_fft_alloc: out of memory");
  return std::make_unique<KissFft>(plan.points, std::move(config));
}

}  // namespace tapedeck::gpu_worker::stages::fft::kissfft
