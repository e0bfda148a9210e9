#include "gpu_worker/stages/synth/source.h"

#include "dataplane/status_macros.h"
#include "gpu_worker/stages/synth/list.h"
#include "gpu_worker/stages/synth/signal.h"

namespace tapedeck::gpu_worker::stages::synth {
absl::StatusOr<MadeSource> Create(const Parameters& parameters, const SourcePlace& place) {
  TD_ASSIGN_OR_RETURN(auto stage, CreateSource(WaveformOf(parameters), *place.device));
  return MadeSource{.stage = std::move(stage), .datatype = kMakes};
}

}  // namespace tapedeck::gpu_worker::stages::synth
