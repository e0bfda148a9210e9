// A fake disk that fails from one operation on.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tests/sim/disks/fault_disk.h"

namespace tapedeck::faults {

// Of a full disk writes fail, and nothing else.
enum class Failure { kErrorOnce, kErrorForEver, kFullOnce, kFullForEver };

// Makes the `n`th operation from here, or all from there on, fail. `disk.fault` ends it.
inline void FailAt(sim::FaultDisk& disk, uint64_t n, Failure failure) {
  const uint64_t first = disk.operations + n;
  disk.fault = [&disk, first, failure](const std::string& operation,
                                       uint32_t member) -> absl::Status {
    const bool once = failure == Failure::kErrorOnce || failure == Failure::kFullOnce;
    if (disk.operations < first || (once && disk.operations > first)) return absl::OkStatus();
    const bool full = failure == Failure::kFullOnce || failure == Failure::kFullForEver;
    if (!full) return sim::DiskError(operation, member, "Input/output error");
    const bool writes =
        operation == "write" || operation == "write index" || operation == "write manifest";
    return writes ? sim::DiskFull(operation, member) : absl::OkStatus();
  };
}

}  // namespace tapedeck::faults
