#include <numeric>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/unusable.h"
#include "gpu_worker/stages/fft/fft.h"
#include "gpu_worker/stages/fft/transform.h"
#include "gpu_worker/stages/for_device.h"
#include "gpu_worker/stages/parameters.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages::fft {

using services::samples::kNoWindow;
using services::samples::WindowNames;

namespace {

constexpr size_t kSampleBytes = 8;       // cf32_le
constexpr size_t kBlockMultiple = 4096;  // of the bytes of every block

struct Entry {
  absl::string_view kind;  // of device
  absl::string_view library;
  absl::StatusOr<std::unique_ptr<Fft>> (*create)(const Plan& plan, device::Queue& queue);
  absl::string_view absent;            // why `create` is null
  absl::Status (*usable)() = nullptr;  // on this machine; null: on every one
};

// Of a kind the fastest first.
constexpr Entry kEntries[] = {
    {"cuda", "cuFFT", IfBuilt<kWithCuda, &cuda::Create>(), "built without CUDA",
     IfBuilt<kWithCuda, &cuda::Usable>()},
    {"host", "FFTW3f", IfBuilt<kWithFftw, &fftw::Create>(),
     "built without FFTW: build with -DTAPEDECK_FFTW=ON or use a GPU"},
    {"host", "kissfft", IfBuilt<kWithKissfft, &kissfft::Create>(),
     "built without kissfft: build with -DTAPEDECK_KISSFFT=ON or use a GPU"},
};

absl::Status Usable(const Entry& entry) {
  if (entry.create == nullptr) return absl::FailedPreconditionError(entry.absent);
  return entry.usable == nullptr ? absl::OkStatus() : entry.usable();
}

// Why none of a device's rooms can.
std::string WhyNone(const device::Device& device) {
  std::vector<std::string> reasons;
  for (const Entry& entry : kEntries) {
    if (entry.kind != device.info().kind) continue;
    if (const absl::Status status = Usable(entry); !status.ok()) {
      reasons.emplace_back(status.message());
    }
  }
  return reasons.empty() ? "no FFT for devices of its kind" : absl::StrJoin(reasons, "; ");
}

// Computes on the work thread.
class HostFftWindow final : public FftWindow {
 public:
  explicit HostFftWindow(const std::vector<float>& weights) : weights_(weights) {}

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

absl::StatusOr<std::unique_ptr<FftWindow>> CreateFftWindowOnHost(const std::vector<float>& weights,
                                                                 device::Device& /*device*/,
                                                                 device::Queue& /*queue*/) {
  return std::make_unique<HostFftWindow>(weights);
}

class FftTransform final : public Transform {
 public:
  // `window` null: no window.
  FftTransform(uint32_t points, std::unique_ptr<FftWindow> window, std::unique_ptr<Fft> fft)
      : granule_bytes_(points * kSampleBytes), window_(std::move(window)), fft_(std::move(fft)) {}

  size_t granule_bytes() const override { return granule_bytes_; }

  absl::Status Apply(std::span<std::byte> /*in*/, std::span<std::byte> out) override {
    const size_t transforms = out.size() / granule_bytes_;
    if (window_ != nullptr) TD_RETURN_IF_ERROR(window_->Multiply(out.data(), transforms));
    return fft_->Forward(out.data(), transforms);
  }

 private:
  const size_t granule_bytes_;
  const std::unique_ptr<FftWindow> window_;
  const std::unique_ptr<Fft> fft_;
};

absl::StatusOr<std::unique_ptr<FftWindow>> FftWindowOf(const Parameters& parameters,
                                                       const TransformSetup& setup) {
  if (parameters.window == kNoWindow) return nullptr;
  const std::vector<double> exact =
      services::samples::WindowWeights(parameters.window, parameters.points);
  return CreateFftWindow({exact.begin(), exact.end()}, *setup.device, *setup.queue);
}

}  // namespace

std::vector<Library> LibrariesFor(const device::Device& device) {
  std::vector<Library> libraries;
  for (const Entry& entry : kEntries) {
    if (entry.kind != device.info().kind || !Usable(entry).ok()) continue;
    libraries.push_back({.name = std::string(entry.library), .create = entry.create});
  }
  return libraries;
}

absl::StatusOr<std::unique_ptr<Fft>> Create(const Plan& plan, const device::Device& device,
                                            device::Queue& queue) {
  const std::vector<Library> libraries = LibrariesFor(device);
  if (!libraries.empty()) return libraries.front().create(plan, queue);
  const std::string& name = device.info().description;
  return device::Unusable(name,
                          absl::StrCat("fft: ", name, " cannot transform: ", WhyNone(device)));
}

absl::StatusOr<std::unique_ptr<FftWindow>> CreateFftWindow(const std::vector<float>& weights,
                                                           device::Device& device,
                                                           device::Queue& queue) {
  return MakeFor<&CreateFftWindowOnHost, &cuda::CreateFftWindow>(device, kName, weights, device,
                                                                 queue);
}

std::string LibraryFor(const device::Device& device) {
  const std::vector<Library> libraries = LibrariesFor(device);
  return libraries.empty() ? absl::StrCat("no FFT: ", WhyNone(device)) : libraries.front().name;
}

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader(kName, given);
  reader.Whole("points", out.points);
  reader.Require(out.points >= kMinPoints && out.points <= kMaxPoints, "points",
                 absl::StrCat("a whole number from ", kMinPoints, " to ", kMaxPoints));
  reader.Text("window", out.window);
  reader.Require(absl::c_linear_search(WindowNames(), out.window), "window",
                 absl::StrCat("one of ", absl::StrJoin(WindowNames(), ", ")));
  TD_RETURN_IF_ERROR(reader.Finish());
  return out;
}

Description Describe(const Parameters& parameters) {
  TextParameters told{{"points", absl::StrCat(parameters.points)}};
  if (parameters.window != kNoWindow) told["window"] = parameters.window;
  return {.parameters = std::move(told), .takes = kTransformable, .gives = kTransformable};
}

absl::StatusOr<Parameters> FromOrigin(const TextParameters& parameters) {
  return Parse({parameters.begin(), parameters.end()});
}

absl::StatusOr<std::unique_ptr<Transform>> CreateTransform(const Parameters& parameters,
                                                           const TransformSetup& setup) {
  const uint32_t points = parameters.points;
  const size_t granule_bytes = points * kSampleBytes;
  if (setup.block_bytes % granule_bytes != 0) {
    return services::ArgumentInvalid(
        "fft.points", absl::StrCat("fft: a block of ", setup.block_bytes,
                                   " bytes does not hold whole transforms of ", points,
                                   " cf32_le points; a multiple of ",
                                   std::lcm(granule_bytes, kBlockMultiple), " bytes does"));
  }
  const Plan plan{.points = points,
                  .transforms = setup.at_once * setup.block_bytes / granule_bytes};
  TD_ASSIGN_OR_RETURN(auto fft, Create(plan, *setup.device, *setup.queue));
  TD_ASSIGN_OR_RETURN(auto window, FftWindowOf(parameters, setup));
  return std::make_unique<FftTransform>(points, std::move(window), std::move(fft));
}

}  // namespace tapedeck::gpu_worker::stages::fft
