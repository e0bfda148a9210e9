#include "gpu_worker/stages/detect/host/summer.h"

#include <cstring>

namespace tapedeck::gpu_worker::stages::detect::host {
namespace {

class HostSummer final : public Summer {
 public:
  explicit HostSummer(const Band& band) : band_(band) {}

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

}  // namespace

absl::StatusOr<std::unique_ptr<Summer>> Create(const Band& band, device::Queue& /*queue*/) {
  return std::make_unique<HostSummer>(band);
}

}  // namespace tapedeck::gpu_worker::stages::detect::host
