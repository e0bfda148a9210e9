// When a CUDA device sees what a network port has written to its memory.
#pragma once

#include "absl/status/statusor.h"

namespace tapedeck::dataplane::cuda {

enum class WriteVisibility {
  kOrdered,  // work that starts after the write's completion sees it
  kFlush,    // only after FlushWrites
  // Neither: it would take a read through the port behind every write.
  kLoopbackRead,
};

// From CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING and ..._FLUSH_WRITES_OPTIONS.
WriteVisibility VisibilityOf(int writes_ordering, int flush_options);

struct DirectAttributes {
  bool supported = false;  // GPUDirect RDMA at all
  int writes_ordering = 0;
  int flush_options = 0;
};
absl::StatusOr<DirectAttributes> ReadDirectAttributes(int device);

// Waits until the device sees all that ports have written to its memory; microseconds.
absl::Status FlushWrites(int device);

}  // namespace tapedeck::dataplane::cuda
