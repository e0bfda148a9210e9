#include "gpu_worker/stages/verify/expected.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/synth/parameters.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::stages::verify {

namespace {

// More than a job may have.
constexpr size_t kMostTransforms = 32;
// Of a block before its transforms: 64 MiB of cf32, as large as a worker makes one.
constexpr uint64_t kMostSamples = (uint64_t{64} << 20) / sizeof(synth::Complex);

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
  if (transforms.size() > kMostTransforms) return WrongLabels("the label transforms is too long");
  Steps steps;
  for (const AppliedTransform& transform : transforms) {
    TD_ASSIGN_OR_RETURN(steps.emplace_back(), StepFor(transform));
    if (steps.back() != nullptr) continue;
    *why = absl::StrCat("the transform ", transform.name, " cannot be computed again");
    return nullptr;
  }
  TD_ASSIGN_OR_RETURN(const Sizes sizes,
                      SizesOf(steps, place.block_bytes, steps.size() - place.transforms.size()));
  return std::unique_ptr<Expected>(
      new Expected(synth::WaveformOf(parameters), sizes, std::move(steps)));
}

absl::StatusOr<Expected::Sizes> Expected::SizesOf(const Steps& steps, uint64_t block_bytes,
                                                  size_t recorded) {
  Sizes sizes{.block_bytes = block_bytes};
  sizes.real = !steps.empty() && steps.back()->gives_real();
  sizes.samples = block_bytes / (sizes.real ? sizeof(float) : sizeof(synth::Complex));
  for (size_t i = steps.size(); i > 0; --i) {
    const Step& step = *steps[i - 1];
    if (step.gives_real() && i < steps.size()) {
      return WrongLabels("a transform of complex samples follows one that gives real ones");
    }
    const uint64_t samples_for_one = step.granule() / step.granule_given();
    sizes.samples *= samples_for_one;
    if (i <= recorded) sizes.samples_for_recorded *= samples_for_one;
    if (sizes.samples > kMostSamples || sizes.samples % step.granule() != 0) {
      return WrongLabels("a block does not hold whole ones of the transforms that the labels name");
    }
  }
  return sizes;
}

Expected::Expected(const synth::Waveform& waveform, const Sizes& sizes, Steps steps)
    : generator_(waveform),
      sizes_(sizes),
      steps_(std::move(steps)),
      made_(sizes.samples),
      parts_(sizes.samples) {}

absl::Status Expected::Compare(const dataplane::BlockHeader& header,
                               std::span<const std::byte> payload) {
  const uint64_t sequence = header.sequence;
  // Where samples are chosen, not blocks.
  const bool cut = (header.flags & dataplane::kBlockPartial) != 0 && steps_.empty() &&
                   payload.size() < sizes_.block_bytes &&
                   payload.size() % sizeof(synth::Complex) == 0;
  if (payload.size() != sizes_.block_bytes && !cut) {
    return absl::DataLossError(absl::StrCat("block ", sequence, " has ", payload.size(),
                                            " bytes, not ", sizes_.block_bytes));
  }
  generator_.Make(header.sample_index * sizes_.samples_for_recorded, made_);
  if (!steps_.empty()) return CompareTransformed(sequence, payload);
  return CompareExact(sequence, {reinterpret_cast<const synth::Complex*>(payload.data()),
                                 payload.size() / sizeof(synth::Complex)});
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

absl::Status Expected::CompareTransformed(uint64_t sequence, std::span<const std::byte> payload) {
  const size_t samples = Transform();
  const auto* got = reinterpret_cast<const float*>(payload.data());
  double difference = 0;
  double power = 0;
  for (size_t i = 0; i < samples; ++i) {
    const double re = parts_.real[i];
    const double im = parts_.imaginary[i];
    const double dr = *got++ - re;
    const double di = sizes_.real ? 0.0 : *got++ - im;
    difference += dr * dr + di * di;
    power += re * re + im * im;
  }
  // Written so that a NaN fails. An all-zero signal must come back as zeros.
  if (difference <= kFftTolerance * kFftTolerance * power) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("block ", sequence, ": relative L2 difference ",
                                          std::sqrt(difference / power), " from the reference"));
}

size_t Expected::Transform() {
  for (size_t i = 0; i < made_.size(); ++i) {
    parts_.real[i] = made_[i].re;
    parts_.imaginary[i] = made_[i].im;
  }
  size_t samples = made_.size();
  for (const auto& step : steps_) {
    step->Apply(std::span(parts_.real).first(samples), std::span(parts_.imaginary).first(samples));
    samples = samples / step->granule() * step->granule_given();
  }
  return samples;
}

}  // namespace tapedeck::gpu_worker::stages::verify
