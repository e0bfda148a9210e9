#include "gpu_worker/stages/verify/expected.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/detect/transform.h"
#include "gpu_worker/stages/stage_report.h"
#include "gpu_worker/stages/synth/source.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages::verify {

using services::model::OriginStage;

namespace {

// More than a job may have.
constexpr size_t kMostTransforms = 32;
// Of a block before its transforms: 64 MiB of cf32, as large as a worker makes one. A block of a
// second output is made in pieces, none of which is larger.
constexpr uint64_t kMostSamples = (uint64_t{64} << 20) / sizeof(synth::Complex);
constexpr uint64_t kMostSamplesInPieces = uint64_t{1} << 40;

// What a thread computes at a time, in its own cache: a part and what it is compared with are five
// times as much. Of smaller parts the threads would ask for the next one too often.
constexpr size_t kPartSamples = 4096;

// Of one playback, so that it leaves something of a large machine to others.
constexpr unsigned kMostThreads = 16;

// Sums that do not wait for each other.
constexpr size_t kLanes = 8;

absl::Status WrongOrigin(absl::string_view text) {
  return services::ArgumentInvalid("origin", absl::StrCat("verify: ", text));
}

// Those that made the recording, then those of its playback; but for one that leaves samples as
// they are.
std::vector<OriginStage> TransformsOf(const SinkSetup& place) {
  std::vector<OriginStage> transforms = place.origin.transforms;
  std::erase_if(transforms, [](const OriginStage& one) { return one.name == detect::kName; });
  transforms.insert(transforms.end(), place.transforms.begin(), place.transforms.end());
  return transforms;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Expected>> Expected::For(const SinkSetup& place,
                                                        services::Note* why) {
  const OriginStage& source = place.origin.source;
  if (source.name != "synth") {
    *why =
        source.name.empty()
            ? NotCompared("SOURCE_UNKNOWN", "its source is unknown")
            : NotCompared("SOURCE",
                          absl::StrCat("its source, ", source.name, ", cannot be computed again"),
                          {{"source", source.name}});
    return nullptr;
  }
  const std::vector<OriginStage> transforms = TransformsOf(place);
  if (place.loops || (place.cut && !transforms.empty())) {
    *why = place.loops
               ? NotCompared("LOOP", "it is a loop, whose blocks are not those of the recording")
               : NotCompared("CUT", "it was transformed in blocks that begin at other samples");
    return nullptr;
  }
  TD_ASSIGN_OR_RETURN(const synth::Parameters parameters, synth::FromOrigin(source.parameters));
  if (transforms.size() > kMostTransforms) return WrongOrigin("has too many transforms");
  Steps steps;
  for (const OriginStage& transform : transforms) {
    TD_ASSIGN_OR_RETURN(steps.emplace_back(), StepFor(transform));
    if (steps.back() != nullptr) continue;
    *why = NotCompared("TRANSFORM",
                       absl::StrCat("the transform ", transform.name, " cannot be computed again"),
                       {{"transform", transform.name}});
    return nullptr;
  }
  const bool beside = !place.origin.beside.empty();
  absl::StatusOr<Sizes> sizes =
      SizesOf(steps, place.block_bytes,
              {.steps = steps.size() - place.transforms.size(),
               .most_samples = beside ? kMostSamplesInPieces : kMostSamples});
  // The transforms before it were made of other blocks than its own.
  if (!sizes.ok() && beside) {
    *why = NotCompared("SIZE", std::string(sizes.status().message()));
    return nullptr;
  }
  TD_RETURN_IF_ERROR(sizes.status());
  if (beside) sizes->blocks_beside = place.blocks;
  std::unique_ptr<Expected> expected(
      new Expected(synth::WaveformOf(parameters), *sizes, std::move(steps)));
  expected->StartTeam();
  return expected;
}

absl::StatusOr<Expected::Sizes> Expected::SizesOf(const Steps& steps, uint64_t block_bytes,
                                                  const Recorded& recorded) {
  Sizes sizes{.block_bytes = block_bytes};
  sizes.real = !steps.empty() && steps.back()->gives_real();
  sizes.samples = block_bytes / (sizes.real ? sizeof(float) : sizeof(synth::Complex));
  for (size_t i = steps.size(); i > 0; --i) {
    const Step& step = *steps[i - 1];
    if (step.gives_real() && i < steps.size()) {
      return WrongOrigin("a transform of complex samples follows one that gives real ones");
    }
    const uint64_t samples_for_one = step.granule() / step.granule_given();
    sizes.samples *= samples_for_one;
    if (i <= recorded.steps) sizes.samples_for_recorded *= samples_for_one;
    if (sizes.samples > recorded.most_samples || sizes.samples % step.granule() != 0) {
      return WrongOrigin("a block does not hold whole transforms of the origin");
    }
  }
  uint64_t granule = 1;         // in samples before all steps
  uint64_t before_for_one = 1;  // so many of these are one before the next step
  for (const auto& step : steps) {
    granule = std::lcm(granule, step->granule() * before_for_one);
    before_for_one *= step->granule() / step->granule_given();
    if (granule > kMostSamples) return WrongOrigin("the transforms exceed a worker's limit");
  }
  sizes.granule = granule;
  sizes.part_samples = granule * std::max<uint64_t>(1, kPartSamples / granule);
  return sizes;
}

void Expected::StartTeam() {
  const uint64_t parts = (sizes_.samples + sizes_.part_samples - 1) / sizes_.part_samples;
  const size_t threads = std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads);
  team_ = ThreadTeam::Create(std::clamp<size_t>(parts, 1, threads) - 1);
  scratch_.resize(team_->size());
  for (Scratch& scratch : scratch_) {
    scratch.made.resize(sizes_.part_samples);
    if (!exact()) scratch.parts = SplitComplex(sizes_.part_samples);
  }
}

absl::Status Expected::Compare(const dataplane::BlockHeader& header,
                               std::span<const std::byte> payload) {
  const bool partial = (header.flags & dataplane::kBlockPartial) != 0;
  // Where samples are chosen, not blocks.
  const bool cut = partial && exact() && payload.size() < sizes_.block_bytes &&
                   payload.size() % sizeof(synth::Complex) == 0;
  const bool made_up = EndsMadeUp(header);
  if (payload.size() != sizes_.block_bytes && !cut && !(made_up && partial)) {
    return absl::DataLossError(absl::StrCat("block ", header.sequence, " has ", payload.size(),
                                            " bytes, not ", sizes_.block_bytes));
  }
  uint64_t samples = cut ? payload.size() / sizeof(synth::Complex) : sizes_.samples;
  if (made_up) {
    const uint64_t granule_bytes = sizes_.block_bytes * sizes_.granule / sizes_.samples;
    const uint64_t whole = std::max<uint64_t>(payload.size() / granule_bytes, 1) - 1;
    samples = whole * sizes_.granule;
    payload = payload.first(whole * granule_bytes);
  }
  const uint64_t begin = header.sample_index * sizes_.samples_for_recorded;
  const size_t parts = (samples + sizes_.part_samples - 1) / sizes_.part_samples;
  found_.assign(parts, Found());
  team_->Run(parts, [&](size_t part, size_t thread_number) {
    const size_t first = part * sizes_.part_samples;
    const size_t some = std::min(sizes_.part_samples, samples - first);
    // Both are whole: a part is whole granules of all steps.
    const size_t from = first * payload.size() / samples;
    const size_t bytes = some * payload.size() / samples;
    found_[part] =
        Look(first, begin + first, some, payload.subspan(from, bytes), scratch_[thread_number]);
  });
  return exact() ? JudgeExact(header.sequence) : JudgeTransformed(header.sequence);
}

bool Expected::EndsMadeUp(const dataplane::BlockHeader& header) const {
  if (exact() || !sizes_.blocks_beside.has_value()) return false;
  return (header.flags & dataplane::kBlockPartial) != 0 ||
         header.sequence + 1 == *sizes_.blocks_beside;
}

Expected::Found Expected::Look(size_t first, uint64_t sample_index, size_t samples,
                               std::span<const std::byte> got, Scratch& scratch) const {
  const std::span made = std::span(scratch.made).first(samples);
  generator_.Make(sample_index, made);
  if (!exact()) return LookTransformed(got, samples, scratch);
  if (std::memcmp(got.data(), made.data(), got.size()) == 0) return {};
  const auto* const values = reinterpret_cast<const synth::Complex*>(got.data());
  size_t i = 0;
  while (std::memcmp(&values[i], &made[i], sizeof(values[i])) == 0) ++i;
  return {.sample = first + i, .got = values[i], .made = made[i]};
}

// Of what `scratch` has made.
Expected::Found Expected::LookTransformed(std::span<const std::byte> got, size_t samples,
                                          Scratch& scratch) const {
  const std::span real(scratch.parts.real);
  const std::span imaginary(scratch.parts.imaginary);
  for (size_t i = 0; i < samples; ++i) {
    real[i] = scratch.made[i].re;
    imaginary[i] = scratch.made[i].im;
  }
  for (const auto& step : steps_) {
    step->Apply(real.first(samples), imaginary.first(samples), scratch.workspace);
    samples = samples / step->granule() * step->granule_given();
  }
  const auto* const values = reinterpret_cast<const float*>(got.data());
  double difference[kLanes] = {};
  double power[kLanes] = {};
  const auto add = [&](size_t i, size_t lane) {
    const double dr = values[sizes_.real ? i : 2 * i] - real[i];
    const double di = sizes_.real ? 0.0 : values[2 * i + 1] - imaginary[i];
    difference[lane] += dr * dr + di * di;
    power[lane] += real[i] * real[i] + imaginary[i] * imaginary[i];
  };
  size_t i = 0;
  for (; i + kLanes <= samples; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(i + lane, lane);
  }
  for (; i < samples; ++i) add(i, 0);
  return {.difference = std::accumulate(difference, difference + kLanes, 0.0),
          .power = std::accumulate(power, power + kLanes, 0.0)};
}

absl::Status Expected::JudgeExact(uint64_t sequence) const {
  for (const Found& found : found_) {
    if (!found.sample.has_value()) continue;
    return absl::DataLossError(absl::StrCat("block ", sequence, ", sample ", *found.sample, ": (",
                                            found.got.re, ", ", found.got.im, ") instead of (",
                                            found.made.re, ", ", found.made.im, ")"));
  }
  return absl::OkStatus();
}

absl::Status Expected::JudgeTransformed(uint64_t sequence) const {
  double difference = 0;
  double power = 0;
  for (const Found& found : found_) {
    difference += found.difference;
    power += found.power;
  }
  // Written so that a NaN fails. An all-zero signal must come back as zeros.
  if (difference <= kFftTolerance * kFftTolerance * power) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("block ", sequence, ": relative L2 difference ",
                                          std::sqrt(difference / power), " from the reference"));
}

}  // namespace tapedeck::gpu_worker::stages::verify
