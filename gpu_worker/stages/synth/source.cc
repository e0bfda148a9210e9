#include "gpu_worker/stages/synth/source.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/stages/synth/list.h"
#include "gpu_worker/stages/synth/signal.h"
#include "services/errors.h"

namespace tapedeck::gpu_worker::stages::synth {
namespace {

constexpr char kMakes[] = "cf32_le";

}  // namespace

absl::StatusOr<MadeSource> Create(const Parameters& parameters, const SourcePlace& place) {
  if (place.channel_datatype != kMakes) {
    return services::ArgumentInvalid(
        "source",
        absl::StrCat("synth makes ", kMakes, ", the channel holds ", place.channel_datatype));
  }
  TD_ASSIGN_OR_RETURN(auto stage, CreateSource(WaveformOf(parameters), *place.device));
  return MadeSource{.stage = std::move(stage), .datatype = kMakes};
}

}  // namespace tapedeck::gpu_worker::stages::synth
