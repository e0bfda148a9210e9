#include "gpu_worker/stages/synth/parameters.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/parameters.h"
#include "gpu_worker/stages/synth/waveform.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker::stages::synth {
namespace {

// Raised whenever the same settings would give other samples.
constexpr char kVersion[] = "1";

absl::Status WrongOrigin(absl::string_view text) {
  return services::ArgumentInvalid("origin", absl::StrCat("synth: ", text));
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

}  // namespace tapedeck::gpu_worker::stages::synth
