#include <kissfft/kiss_fft.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <span>
#include <type_traits>
#include <vector>

#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/fft.h"

namespace tapedeck::gpu_worker::stages::fft::kissfft {
namespace {

static_assert(std::is_same_v<kiss_fft_scalar, float>, "cf32_le");

// A prime factor costs kissfft its square, and in single precision its accuracy: 4099 points would
// take 44 ms and be off by 1e-6.
constexpr uint32_t kLargestFactor = 31;

struct ConfigDeleter {
  void operator()(kiss_fft_cfg config) const { kiss_fft_free(config); }
};
using UniqueConfig = std::unique_ptr<std::remove_pointer_t<kiss_fft_cfg>, ConfigDeleter>;

absl::StatusOr<UniqueConfig> MakeConfig(size_t points, bool inverse) {
  UniqueConfig config(kiss_fft_alloc(static_cast<int>(points), inverse ? 1 : 0, nullptr, nullptr));
  if (config == nullptr) return absl::ResourceExhaustedError("kiss_fft_alloc: out of memory");
  return config;
}

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

kiss_fft_cpx Product(kiss_fft_cpx a, kiss_fft_cpx b) {
  return {a.r * b.r - a.i * b.i, a.r * b.i + a.i * b.r};
}

kiss_fft_cpx Conjugate(kiss_fft_cpx a) { return {a.r, -a.i}; }

// Bluestein's form (1970) of a transform of any length. With c[n] = e^(-pi i n^2 / points) and
// nk = (n^2 + k^2 - (k - n)^2) / 2, X[k] is c[k] times the convolution of x[n] c[n] with the
// conjugate of c, which transforms of a power of two compute.
class ChirpFft final : public Fft {
 public:
  static absl::StatusOr<std::unique_ptr<Fft>> Create(uint32_t points) {
    const size_t padded = std::bit_ceil(size_t{2} * points - 1);
    TD_ASSIGN_OR_RETURN(UniqueConfig forward, MakeConfig(padded, /*inverse=*/false));
    TD_ASSIGN_OR_RETURN(UniqueConfig inverse, MakeConfig(padded, /*inverse=*/true));
    return std::unique_ptr<Fft>(
        new ChirpFft(points, padded, std::move(forward), std::move(inverse)));
  }

  absl::Status Forward(std::byte* data, size_t count) override {
    const size_t points = chirp_.size();
    auto* transform = reinterpret_cast<kiss_fft_cpx*>(data);
    for (size_t i = 0; i < count; ++i, transform += points) {
      std::ranges::transform(chirp_, std::span(transform, points), turned_.begin(), Product);
      std::fill(turned_.begin() + static_cast<ptrdiff_t>(points), turned_.end(), kiss_fft_cpx{});
      kiss_fft(forward_.get(), turned_.data(), work_.data());
      std::ranges::transform(work_, response_, work_.begin(), Product);
      kiss_fft(inverse_.get(), work_.data(), turned_.data());
      std::ranges::transform(chirp_, std::span(turned_).first(points), transform, Product);
    }
    return absl::OkStatus();
  }

 private:
  ChirpFft(uint32_t points, size_t padded, UniqueConfig forward, UniqueConfig inverse)
      : forward_(std::move(forward)),
        inverse_(std::move(inverse)),
        response_(padded),
        turned_(padded),
        work_(padded) {
    const float scale = 1.0f / static_cast<float>(padded);  // exact
    for (uint64_t n = 0; n < points; ++n) {
      const double angle = std::numbers::pi * static_cast<double>(n * n % (2 * points)) / points;
      chirp_.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(-std::sin(angle))});
      turned_[n] = Conjugate(chirp_.back());
      if (n > 0) turned_[padded - n] = turned_[n];
    }
    kiss_fft(forward_.get(), turned_.data(), response_.data());
    for (kiss_fft_cpx& value : response_) value = {value.r * scale, value.i * scale};
  }

  const UniqueConfig forward_;
  const UniqueConfig inverse_;
  std::vector<kiss_fft_cpx> chirp_;     // c
  std::vector<kiss_fft_cpx> response_;  // transform of its conjugate, divided by the length
  std::vector<kiss_fft_cpx> turned_;
  std::vector<kiss_fft_cpx> work_;
};

uint32_t LargestPrimeFactor(uint32_t number) {
  uint32_t largest = 1;
  for (uint32_t factor = 2; factor * factor <= number; ++factor) {
    for (; number % factor == 0; number /= factor) largest = factor;
  }
  return std::max(largest, number);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, device::Queue& /*queue*/) {
  if (LargestPrimeFactor(plan.points) > kLargestFactor) return ChirpFft::Create(plan.points);
  TD_ASSIGN_OR_RETURN(UniqueConfig config, MakeConfig(plan.points, /*inverse=*/false));
  return std::make_unique<KissFft>(plan.points, std::move(config));
}

}  // namespace tapedeck::gpu_worker::stages::fft::kissfft
