#include "gpu_worker/stages/power/host/transform.h"

#include <algorithm>
#include <vector>

namespace tapedeck::gpu_worker::stages::power::host {
namespace {

class HostPower final : public Transform {
 public:
  explicit HostPower(const Shape& shape) : shape_(shape), sums_(shape.points) {}

  size_t granule_bytes() const override { return shape_.granule_bytes(); }

  absl::Status Apply(std::span<std::byte> in, std::span<std::byte> out) override {
    const auto* samples = reinterpret_cast<const float*>(in.data());
    auto* bins = reinterpret_cast<float*>(out.data());
    const size_t averages = in.size() / granule_bytes();
    for (size_t a = 0; a < averages; ++a, bins += shape_.points) {
      std::ranges::fill(sums_, 0.0);
      for (uint32_t t = 0; t < shape_.average; ++t, samples += 2 * size_t{shape_.points}) {
        for (size_t k = 0; k < shape_.points; ++k) {
          sums_[k] += Power(samples[2 * k], samples[2 * k + 1]);
        }
      }
      for (size_t k = 0; k < shape_.points; ++k) {
        bins[k] = static_cast<float>(sums_[k] / shape_.average);
      }
    }
    return absl::OkStatus();
  }

 private:
  const Shape shape_;
  std::vector<double> sums_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Transform>> Create(const Shape& shape, device::Queue& /*queue*/) {
  return std::make_unique<HostPower>(shape);
}

}  // namespace tapedeck::gpu_worker::stages::power::host
