#include "gpu_worker/stages/synth/parameters.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/parameters.h"
#include "gpu_worker/stages/synth/waveform.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::stages::synth {
namespace {

// Raised whenever the same settings would give other samples.
constexpr char kVersion[] = "1";

absl::Status WrongLabels(absl::string_view text) {
  return services::ArgumentInvalid("labels", absl::StrCat("synth: ", text));
}

std::string Exact(double value) { return absl::StrFormat("%.17g", value); }

}  // namespace

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  Parameters out;
  ParameterReader reader("synth", given);
  reader.Whole("seed", out.seed);
  reader.Numbers("tones", out.tones, -0.5, 0.5, kMaxTones);
  reader.Number("noise", out.noise, 0, 1e6);
  TD_RETURN_IF_ERROR(reader.Finish());
  return out;
}

Description Describe(const Parameters& parameters) {
  const auto exact = [](std::string* out, double tone) { out->append(Exact(tone)); };
  return {.labels = {{"source", "synth"},
                     {"synth_version", kVersion},
                     {"seed", absl::StrCat(parameters.seed)},
                     {"tones", absl::StrJoin(parameters.tones, ",", exact)},
                     {"noise", Exact(parameters.noise)}},
          .gives = kMakes};
}

absl::StatusOr<Parameters> FromLabels(const Labels& labels) {
  const auto version = labels.find("synth_version");
  if (version == labels.end() || version->second != kVersion) {
    return WrongLabels(absl::StrCat("the recording was made by version '",
                                    version == labels.end() ? "" : version->second,
                                    "' of the signal, this is ", kVersion));
  }
  services::StageParameters given;
  for (const char* name : {"seed", "tones", "noise"}) {
    const auto label = labels.find(name);
    if (label == labels.end()) return WrongLabels(absl::StrCat("the label ", name, " is missing"));
    given[name] = label->second;
  }
  return Parse(given);
}

}  // namespace tapedeck::gpu_worker::stages::synth
