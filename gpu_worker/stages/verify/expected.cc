#include "gpu_worker/stages/verify/expected.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/fft/parameters.h"
#include "gpu_worker/stages/fft/window.h"
#include "gpu_worker/stages/synth/parameters.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::stages::verify {

namespace {

// More than a job may have.
constexpr size_t kMostTransforms = 32;

absl::Status WrongLabels(absl::string_view text) {
  return services::ArgumentInvalid("labels", absl::StrCat("verify: ", text));
}

// Those that made the recording, then those of its playback.
std::vector<AppliedTransform> TransformsOf(const SinkPlace& place) {
  std::vector<AppliedTransform> transforms;
  if (const auto label = place.labels.find("transforms"); label != place.labels.end()) {
    for (const absl::string_view name : absl::StrSplit(label->second, ',')) {
      if (transforms.size() > kMostTransforms) break;
      transforms.push_back({std::string(name), place.labels});
    }
  }
  transforms.insert(transforms.end(), place.transforms.begin(), place.transforms.end());
  return transforms;
}

std::vector<double> WeightsOf(const fft::Parameters& parameters) {
  if (parameters.window == fft::kNoWindow) return {};
  return fft::WindowWeights(parameters.window, parameters.points);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Expected>> Expected::For(const SinkPlace& place, std::string* why) {
  const auto source = place.labels.find("source");
  if (source == place.labels.end() || source->second != "synth") {
    *why = absl::StrCat("its source, ", source == place.labels.end() ? "unknown" : source->second,
                        ", cannot be computed again");
    return nullptr;
  }
  const std::vector<AppliedTransform> transforms = TransformsOf(place);
  if (place.loops || (place.cut && !transforms.empty())) {
    *why = place.loops ? "it is a loop, whose blocks are not those of the recording"
                       : "it was transformed in blocks that begin at other samples";
    return nullptr;
  }
  TD_ASSIGN_OR_RETURN(const synth::Parameters parameters, synth::FromLabels(place.labels));
  std::unique_ptr<Expected> expected(
      new Expected(synth::WaveformOf(parameters), place.block_bytes));
  if (transforms.size() > kMostTransforms) return WrongLabels("the label transforms is too long");
  for (const AppliedTransform& transform : transforms) {
    if (transform.name == fft::kName) continue;
    *why = absl::StrCat("the transform ", transform.name, " cannot be computed again");
    return nullptr;
  }
  for (const AppliedTransform& transform : transforms) {
    TD_ASSIGN_OR_RETURN(const fft::Parameters fft, fft::FromLabels(transform.labels));
    if (expected->block_samples_ % fft.points != 0) {
      return WrongLabels("a block does not hold whole transforms of the label fft");
    }
    expected->steps_.push_back({WeightsOf(fft), ReferenceFft(fft.points)});
  }
  return expected;
}

Expected::Expected(const synth::Waveform& waveform, uint64_t block_bytes)
    : generator_(waveform),
      block_samples_(block_bytes / sizeof(synth::Complex)),
      made_(block_samples_),
      real_(block_samples_),
      imaginary_(block_samples_) {}

absl::Status Expected::Compare(const dataplane::BlockHeader& header,
                               std::span<const std::byte> payload) {
  const uint64_t sequence = header.sequence;
  const size_t whole = block_samples_ * sizeof(synth::Complex);
  // Where samples are chosen, not blocks.
  const bool cut = (header.flags & dataplane::kBlockPartial) != 0 && steps_.empty() &&
                   payload.size() < whole && payload.size() % sizeof(synth::Complex) == 0;
  if (payload.size() != whole && !cut) {
    return absl::DataLossError(
        absl::StrCat("block ", sequence, " has ", payload.size(), " bytes, not ", whole));
  }
  generator_.Make(header.sample_index, made_);
  const std::span got(reinterpret_cast<const synth::Complex*>(payload.data()),
                      payload.size() / sizeof(synth::Complex));
  return steps_.empty() ? CompareExact(sequence, got) : CompareTransformed(sequence, got);
}

absl::Status Expected::CompareExact(uint64_t sequence, std::span<const synth::Complex> got) const {
  // Bit for bit.
  const std::byte* const found = std::as_bytes(got).data();
  const std::byte* const made = std::as_bytes(std::span(made_)).data();
  if (std::memcmp(found, made, got.size_bytes()) == 0) return absl::OkStatus();
  constexpr size_t kBytes = sizeof(synth::Complex);
  size_t i = 0;
  while (std::memcmp(found + i * kBytes, made + i * kBytes, kBytes) == 0) ++i;
  return absl::DataLossError(absl::StrCat("block ", sequence, ", sample ", i, ": (", got[i].re,
                                          ", ", got[i].im, ") instead of (", made_[i].re, ", ",
                                          made_[i].im, ")"));
}

absl::Status Expected::CompareTransformed(uint64_t sequence, std::span<const synth::Complex> got) {
  Transform();
  double difference = 0;
  double power = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double dr = got[i].re - real_[i];
    const double di = got[i].im - imaginary_[i];
    difference += dr * dr + di * di;
    power += real_[i] * real_[i] + imaginary_[i] * imaginary_[i];
  }
  // Written so that a NaN fails. An all-zero signal must come back as zeros.
  if (difference <= kFftTolerance * kFftTolerance * power) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("block ", sequence, ": relative L2 difference ",
                                          std::sqrt(difference / power), " from the reference"));
}

void Expected::Transform() {
  for (size_t i = 0; i < block_samples_; ++i) {
    real_[i] = made_[i].re;
    imaginary_[i] = made_[i].im;
  }
  for (auto& [weights, fft] : steps_) {
    for (size_t i = 0; i < block_samples_; i += fft.points()) {
      const auto real = std::span(real_).subspan(i, fft.points());
      const auto imaginary = std::span(imaginary_).subspan(i, fft.points());
      for (size_t n = 0; n < weights.size(); ++n) {
        real[n] *= weights[n];
        imaginary[n] *= weights[n];
      }
      fft.Forward(real, imaginary);
    }
  }
}

}  // namespace tapedeck::gpu_worker::stages::verify
