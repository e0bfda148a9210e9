#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/for_device.h"
#include "gpu_worker/stages/parameters.h"
#include "gpu_worker/stages/synth/source.h"
#include "services/base/errors.h"

// g++ compiles such a function twice, and the loader takes what this processor has: SSE2 has no
// 64-bit multiplication of vectors. Sanitizers are not ready when the loader asks.
#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TAPEDECK_ALSO_AVX2 __attribute__((target_clones("avx2", "default")))
#else
#define TAPEDECK_ALSO_AVX2
#endif

namespace tapedeck::gpu_worker::stages::synth {
namespace {

// Raised whenever the same settings would give other samples.
constexpr char kVersion[] = "1";

absl::Status WrongOrigin(absl::string_view text) {
  return services::ArgumentInvalid("origin", absl::StrCat("synth: ", text));
}

std::string Exact(double value) { return absl::StrFormat("%.17g", value); }

// out[i] = the noise of sample first + i.
TAPEDECK_ALSO_AVX2 void MakeNoise(const Waveform& waveform, uint64_t first, Complex* out,
                                  size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = ScaledNoise(waveform, first + i);
}

// Adds one tone to each: of the chunk that starts so, these steps.
TAPEDECK_ALSO_AVX2 void AddToneToEach(Complex start, const Complex* steps, Complex* out,
                                      size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = AddTone(out[i], start, steps[i]);
}

uint64_t TurnPerSample(double tone) {
  const double turn = std::ldexp(std::fabs(tone), 64);  // at most 2^63
  const uint64_t units = static_cast<uint64_t>(turn);
  return tone < 0 ? -units : units;
}

// Computes on the work thread.
class HostSource final : public SourceStage {
 public:
  explicit HostSource(const Waveform& waveform) : generator_(waveform) {}

  bool fills_host() const override { return false; }

  absl::StatusOr<Filled> Fill(const Slot& slot, device::Queue& /*queue*/) override {
    const size_t samples = slot.device.size() / sizeof(Complex);
    generator_.Make(slot.sequence * samples,
                    {reinterpret_cast<Complex*>(slot.device.data()), samples});
    return Filled{.bytes = samples * sizeof(Complex)};
  }

 private:
  const Generator generator_;
};

absl::StatusOr<std::unique_ptr<SourceStage>> CreateOnHost(const Waveform& waveform,
                                                          device::Device& /*device*/) {
  return std::make_unique<HostSource>(waveform);
}

}  // namespace

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader(kName, given);
  reader.Whole("seed", out.seed);
  reader.Numbers("tones", out.tones, -0.5, 0.5, kMaxTones);
  reader.Number("noise", out.noise, 0, 1e6);
  TD_RETURN_IF_ERROR(reader.Finish());
  return out;
}

Description Describe(const Parameters& parameters) {
  const auto exact = [](std::string* out, double tone) { out->append(Exact(tone)); };
  return {.parameters = {{"version", kVersion},
                         {"seed", absl::StrCat(parameters.seed)},
                         {"tones", absl::StrJoin(parameters.tones, ",", exact)},
                         {"noise", Exact(parameters.noise)}},
          .gives = kMakes};
}

absl::StatusOr<Parameters> FromOrigin(const TextParameters& parameters) {
  const auto version = parameters.find("version");
  if (version == parameters.end() || version->second != kVersion) {
    return WrongOrigin(absl::StrCat("the recording was made by version '",
                                    version == parameters.end() ? "" : version->second,
                                    "' of the signal, this is ", kVersion));
  }
  services::StageParameters given;
  for (const char* name : {"seed", "tones", "noise"}) {
    const auto found = parameters.find(name);
    if (found == parameters.end()) return WrongOrigin(absl::StrCat("its ", name, " is missing"));
    given[name] = found->second;
  }
  return Parse(given);
}

absl::StatusOr<MadeSource> Create(const Parameters& parameters, const SourceSetup& setup) {
  TD_ASSIGN_OR_RETURN(
      auto stage, (MakeFor<&CreateOnHost, &cuda::Create>(*setup.device, kName,
                                                         WaveformOf(parameters), *setup.device)));
  return MadeSource{.stage = std::move(stage), .datatype = kMakes};
}

Waveform WaveformOf(const Parameters& parameters) {
  const std::vector<double>& tones = parameters.tones;
  Waveform waveform{.seed = parameters.seed, .tones = static_cast<uint32_t>(tones.size())};
  std::ranges::transform(tones, waveform.turn_per_sample, TurnPerSample);
  waveform.noise_scale = static_cast<float>(parameters.noise / kNoiseSigma);
  return waveform;
}

Generator::Generator(const Waveform& waveform) : waveform_(waveform) {
  for (uint32_t tone = 0; tone < waveform_.tones; ++tone) {
    for (uint32_t i = 0; i < kChunk; ++i) steps_.push_back(Step(waveform_, tone, i));
  }
}

void Generator::Make(uint64_t first, std::span<Complex> out) const {
  while (!out.empty()) {
    const size_t count = std::min<size_t>(out.size(), kChunk - first % kChunk);
    MakeInChunk(first, out.first(count));
    out = out.subspan(count);
    first += count;
  }
}

void Generator::MakeInChunk(uint64_t first, std::span<Complex> out) const {
  MakeNoise(waveform_, first, out.data(), out.size());
  const uint64_t chunk = first / kChunk;
  for (uint32_t tone = 0; tone < waveform_.tones; ++tone) {
    const Complex* steps = steps_.data() + tone * kChunk + first % kChunk;
    AddToneToEach(ChunkStart(waveform_, tone, chunk), steps, out.data(), out.size());
  }
}

}  // namespace tapedeck::gpu_worker::stages::synth
