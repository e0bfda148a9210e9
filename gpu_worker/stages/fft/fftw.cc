#include <fftw3.h>

#include <type_traits>

#include "absl/base/const_init.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "gpu_worker/stages/fft/fft.h"

namespace tapedeck::gpu_worker::stages::fft::fftw {
namespace {

// FFTW's planner is one per process and not thread-safe; executing plans is.
ABSL_CONST_INIT absl::Mutex planner_mutex(absl::kConstInit);

struct PlanDeleter {
  void operator()(fftwf_plan plan) const {
    absl::MutexLock lock(&planner_mutex);
    fftwf_destroy_plan(plan);
  }
};
struct BufferDeleter {
  void operator()(fftwf_complex* buffer) const { fftwf_free(buffer); }
};
using UniquePlan = std::unique_ptr<std::remove_pointer_t<fftwf_plan>, PlanDeleter>;
using UniqueBuffer = std::unique_ptr<fftwf_complex, BufferDeleter>;

class FftwFft final : public Fft {
 public:
  FftwFft(uint32_t points, UniquePlan plan) : points_(points), plan_(std::move(plan)) {}

  absl::Status Forward(std::byte* data, size_t count) override {
    auto* transform = reinterpret_cast<fftwf_complex*>(data);
    for (size_t i = 0; i < count; ++i, transform += points_) {
      fftwf_execute_dft(plan_.get(), transform, transform);
    }
    return absl::OkStatus();
  }

 private:
  const uint32_t points_;
  const UniquePlan plan_;
};

// FFTW takes its plans to memory that lies as what they were made with did: that holds for all of a
// block's transforms if each is a multiple of the 64 bytes that its start is aligned to.
unsigned FlagsFor(uint32_t points) {
  constexpr uint32_t kAlignedSamples = 64 / sizeof(fftwf_complex);
  // FFTW_MEASURE makes 1024 points 6 % faster and takes 130 ms to plan; a job must start in less.
  return FFTW_ESTIMATE | (points % kAlignedSamples == 0 ? 0 : FFTW_UNALIGNED);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, device::Queue& /*queue*/) {
  const UniqueBuffer buffer(fftwf_alloc_complex(plan.points));
  if (buffer == nullptr) return absl::ResourceExhaustedError("fftwf_alloc_complex: out of memory");
  absl::MutexLock lock(&planner_mutex);
  UniquePlan planned(fftwf_plan_dft_1d(static_cast<int>(plan.points), buffer.get(), buffer.get(),
                                       FFTW_FORWARD, FlagsFor(plan.points)));
  if (planned == nullptr) {
    return absl::InternalError(
        absl::StrCat("fftwf_plan_dft_1d: no plan for ", plan.points, " points"));
  }
  return std::make_unique<FftwFft>(plan.points, std::move(planned));
}

}  // namespace tapedeck::gpu_worker::stages::fft::fftw
