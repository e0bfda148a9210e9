// What NVIDIA's tools show of the pipelines' own threads: a range named like the stamp that its
// step leaves. Nothing while no tool is attached.
#pragma once

#include "dataplane/flight/kinds.h"

namespace tapedeck::gpu_worker::pipeline {

// From its making to its end, on one thread; may be nested.
class NvtxRange {
 public:
  explicit NvtxRange(dataplane::flight::Kind kind);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace tapedeck::gpu_worker::pipeline
