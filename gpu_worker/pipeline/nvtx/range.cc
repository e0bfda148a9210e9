#include "gpu_worker/pipeline/nvtx/range.h"

#include <nvtx3/nvToolsExt.h>

namespace tapedeck::gpu_worker::pipeline {

// Names are literals, which end as C strings do.
NvtxRange::NvtxRange(dataplane::flight::Kind kind) {
  nvtxRangePushA(dataplane::flight::NameOf(kind).data());
}

NvtxRange::~NvtxRange() { nvtxRangePop(); }

}  // namespace tapedeck::gpu_worker::pipeline
