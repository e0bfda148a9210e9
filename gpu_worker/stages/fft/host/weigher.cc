#include "gpu_worker/stages/fft/host/weigher.h"

namespace tapedeck::gpu_worker::stages::fft::host {
namespace {

class HostWeigher final : public Weigher {
 public:
  explicit HostWeigher(const std::vector<float>& weights) : weights_(weights) {}

  absl::Status Multiply(std::byte* data, size_t count) override {
    auto* parts = reinterpret_cast<float*>(data);
    for (size_t i = 0; i < count; ++i, parts += 2 * weights_.size()) {
      for (size_t n = 0; n < weights_.size(); ++n) {
        parts[2 * n] *= weights_[n];
        parts[2 * n + 1] *= weights_[n];
      }
    }
    return absl::OkStatus();
  }

 private:
  const std::vector<float> weights_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Weigher>> CreateWeigher(const std::vector<float>& weights,
                                                       device::Device& /*device*/,
                                                       device::Queue& /*queue*/) {
  return std::make_unique<HostWeigher>(weights);
}

}  // namespace tapedeck::gpu_worker::stages::fft::host
