// The null sink: drops what is played, in any order. On a GPU the payload ends in its memory.
#pragma once

#include <memory>

#include "gpu_worker/stages/stage.h"

namespace tapedeck::gpu_worker::stages::null {

std::unique_ptr<SinkStage> CreateSink();

}  // namespace tapedeck::gpu_worker::stages::null
