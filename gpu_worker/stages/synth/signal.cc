#include "gpu_worker/stages/synth/signal.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::stages::synth {
namespace {

// Raised whenever the same settings would give other samples.
constexpr char kVersion[] = "1";

absl::Status Wrong(absl::string_view field, absl::string_view text) {
  return services::WithReason(absl::InvalidArgumentError(absl::StrCat("synth: ", text)),
                              "ARGUMENT_INVALID", {{"field", std::string(field)}});
}

uint64_t TurnPerSample(double tone) {
  const double turn = std::ldexp(std::fabs(tone), 64);  // at most 2^63
  const uint64_t units = static_cast<uint64_t>(turn);
  return tone < 0 ? -units : units;
}

std::string Exact(double value) { return absl::StrFormat("%.17g", value); }

std::string At(const std::map<std::string, std::string>& labels, const char* key) {
  const auto it = labels.find(key);
  return it == labels.end() ? "" : it->second;
}

}  // namespace

absl::StatusOr<Waveform> Parameters(const services::SynthSpec& spec) {
  if (spec.tones.size() > kMaxTones) {
    return Wrong("tones", absl::StrCat("at most ", kMaxTones, " tones, not ", spec.tones.size()));
  }
  if (!(spec.noise >= 0 && spec.noise <= 1e6)) {
    return Wrong("noise", absl::StrCat("noise is from 0 to 1e6, not ", spec.noise));
  }
  Waveform waveform{.seed = spec.seed, .tones = static_cast<uint32_t>(spec.tones.size())};
  for (size_t i = 0; i < spec.tones.size(); ++i) {
    if (!(std::fabs(spec.tones[i]) <= 0.5)) {
      return Wrong("tones", absl::StrCat("a tone is from -0.5 to 0.5 of the sample rate, not ",
                                         spec.tones[i]));
    }
    waveform.turn_per_sample[i] = TurnPerSample(spec.tones[i]);
  }
  waveform.noise_scale = static_cast<float>(spec.noise / kNoiseSigma);
  return waveform;
}

std::map<std::string, std::string> Labels(const services::SynthSpec& spec) {
  const auto exact = [](std::string* out, double tone) { out->append(Exact(tone)); };
  return {{"source", "synth"},
          {"synth_version", kVersion},
          {"seed", absl::StrCat(spec.seed)},
          {"tones", absl::StrJoin(spec.tones, ",", exact)},
          {"noise", Exact(spec.noise)}};
}

absl::StatusOr<services::SynthSpec> SpecFromLabels(
    const std::map<std::string, std::string>& labels) {
  if (At(labels, "synth_version") != kVersion) {
    return Wrong("labels",
                 absl::StrCat("the recording was made by version '", At(labels, "synth_version"),
                              "' of the signal, this is ", kVersion));
  }
  services::SynthSpec spec;
  spec.tones.clear();
  bool good = absl::SimpleAtoi(At(labels, "seed"), &spec.seed) &&
              absl::SimpleAtod(At(labels, "noise"), &spec.noise);
  const std::string tones = At(labels, "tones");
  for (absl::string_view text : absl::StrSplit(tones, ',', absl::SkipEmpty())) {
    good = good && absl::SimpleAtod(text, &spec.tones.emplace_back());
  }
  if (!good) return Wrong("labels", "labels seed, noise or tones are not numbers");
  return spec;
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
  for (size_t i = 0; i < out.size(); ++i) out[i] = ScaledNoise(waveform_, first + i);
  const uint64_t chunk = first / kChunk;
  for (uint32_t tone = 0; tone < waveform_.tones; ++tone) {
    const Complex start = ChunkStart(waveform_, tone, chunk);
    const Complex* steps = steps_.data() + tone * kChunk + first % kChunk;
    for (size_t i = 0; i < out.size(); ++i) out[i] = AddTone(out[i], start, steps[i]);
  }
}

}  // namespace tapedeck::gpu_worker::stages::synth
