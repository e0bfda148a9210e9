// A storage node or a worker of a site: it serves in this process. With TAPEDECK_BIN it is the
// program of that folder, a process of its own.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "gpu_worker/settings.h"
#include "storage_node/settings.h"

namespace tapedeck::site {

// Ends with it as at a request to end. One thread.
class Daemon {
 public:
  virtual ~Daemon() = default;
  // Of the gRPC services.
  virtual int port() const = 0;
};

// Of the settings those of programs.cc reach a program.
absl::StatusOr<std::unique_ptr<Daemon>> StartDaemon(const storage_node::Settings& settings);
absl::StatusOr<std::unique_ptr<Daemon>> StartDaemon(const gpu_worker::Settings& settings);

}  // namespace tapedeck::site
