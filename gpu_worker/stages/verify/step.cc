#include <vector>

#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/transform.h"
#include "gpu_worker/stages/power/transform.h"
#include "gpu_worker/stages/verify/expected.h"
#include "services/signal/samples/window.h"

namespace tapedeck::gpu_worker::stages::verify {
namespace {

using services::samples::ReferenceFft;

class FftStep final : public Step {
 public:
  explicit FftStep(const fft::Parameters& parameters) : fft_(parameters.points) {
    if (parameters.window == services::samples::kNoWindow) return;
    weights_ = services::samples::WindowWeights(parameters.window, parameters.points);
  }

  size_t granule() const override { return fft_.points(); }
  size_t granule_given() const override { return fft_.points(); }
  bool gives_real() const override { return false; }

  void Apply(std::span<double> real, std::span<double> imaginary,
             Workspace& workspace) const override {
    const size_t points = fft_.points();
    for (; !real.empty(); real = real.subspan(points), imaginary = imaginary.subspan(points)) {
      for (size_t n = 0; n < weights_.size(); ++n) {
        real[n] *= weights_[n];
        imaginary[n] *= weights_[n];
      }
      fft_.Forward(real.first(points), imaginary.first(points), workspace);
    }
  }

 private:
  const ReferenceFft fft_;
  std::vector<double> weights_;  // none: every one is 1
};

class PowerStep final : public Step {
 public:
  explicit PowerStep(const power::Parameters& parameters) : parameters_(parameters) {}

  size_t granule() const override { return size_t{parameters_.points} * parameters_.average; }
  size_t granule_given() const override { return parameters_.points; }
  bool gives_real() const override { return true; }

  // No bin lies behind the samples that it is made of, nor before those that are still needed.
  void Apply(std::span<double> real, std::span<double> imaginary,
             Workspace& /*workspace*/) const override {
    const size_t points = parameters_.points;
    const size_t bins = real.size() / granule() * points;
    for (size_t bin = 0; bin < bins; ++bin) {
      double sum = 0;
      size_t sample = bin / points * granule() + bin % points;
      for (uint32_t t = 0; t < parameters_.average; ++t, sample += points) {
        sum += real[sample] * real[sample] + imaginary[sample] * imaginary[sample];
      }
      real[bin] = sum / parameters_.average;
      imaginary[bin] = 0;
    }
  }

 private:
  const power::Parameters parameters_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> StepFor(const services::model::OriginStage& transform) {
  if (transform.name == fft::kName) {
    TD_ASSIGN_OR_RETURN(const auto parameters, fft::FromOrigin(transform.parameters));
    return std::make_unique<FftStep>(parameters);
  }
  if (transform.name == power::kName) {
    TD_ASSIGN_OR_RETURN(const auto parameters, power::FromOrigin(transform.parameters));
    return std::make_unique<PowerStep>(parameters);
  }
  return nullptr;
}

}  // namespace tapedeck::gpu_worker::stages::verify
