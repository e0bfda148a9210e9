// The window in a GPU's bus address space through which ports reach its memory. A GPU may have far
// less of it than memory (256 MiB), and running out of it can lock up the machine.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tapedeck::dataplane::cuda {

struct Bar1 {
  uint64_t total_bytes = 0;
  uint64_t used_bytes = 0;
};

// RESOURCE_EXHAUSTED if `bytes` more would leave less than a tenth of it, or than 32 MiB, free.
absl::Status CheckBar1(const Bar1& bar1, uint64_t bytes);

// Asks NVML, which comes with the driver and is loaded when first needed. Any thread.
class Bar1Reader {
 public:
  // FAILED_PRECONDITION without NVML.
  static absl::StatusOr<std::unique_ptr<Bar1Reader>> Create(int device);
  ~Bar1Reader();

  // UNIMPLEMENTED for a GPU without such a window.
  absl::StatusOr<Bar1> Read() const;

 private:
  struct Nvml;
  explicit Bar1Reader(std::unique_ptr<Nvml> nvml);

  const std::unique_ptr<Nvml> nvml_;
};

}  // namespace tapedeck::dataplane::cuda
