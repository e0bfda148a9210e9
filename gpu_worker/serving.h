// A worker that serves: its devices, rails, jobs, gRPC server and admin port, put together by its
// settings. tapedeck-worker is one of them; a test may have several in a process.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/settings.h"

namespace tapedeck::gpu_worker {

// One thread.
class Serving {
 public:
  // gRPC has been started (services/rpc/grpc_process.h). Takes jobs once it returns. Errors name
  // what of the settings cannot be used, and why.
  static absl::StatusOr<std::unique_ptr<Serving>> Start(const Settings& settings);
  ~Serving();  // ends, if it has not

  // Of the gRPC services.
  int port() const;

  // Takes no more work. Jobs that have not ended by themselves 9 s before the grace of the settings
  // is over are cancelled. Ends the process when the grace is over and something still waits, for
  // as long as this lives. Once.
  void End();

 private:
  struct Parts;

  explicit Serving(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
  bool ended_ = false;
};

}  // namespace tapedeck::gpu_worker
