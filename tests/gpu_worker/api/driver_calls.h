// Which calls of the CUDA driver a process makes, counted by CUPTI's callbacks, from all of its
// threads. What is counted runs slower. Source: CUPTI's documentation, "Callback API".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace tapedeck::gpu_worker::api {

class DriverCalls {
 public:
  // Null: there is no CUPTI, or it refuses, which stderr says.
  static std::unique_ptr<DriverCalls> Count();
  ~DriverCalls();

  // So far, by the name of the call, without those that were not made.
  std::map<std::string, uint64_t> Made() const;

 private:
  DriverCalls() = default;
};

// Of these the calls in which the CPU waits for the GPU.
uint64_t WaitsIn(const std::map<std::string, uint64_t>& calls);

}  // namespace tapedeck::gpu_worker::api
