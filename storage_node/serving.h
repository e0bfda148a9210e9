// A storage node that serves: its rails, catalog, sessions, gRPC server, admin port and console,
// put together by its settings. tapedeck-storage is one of them; a test may have several in a
// process.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "storage_node/settings.h"

namespace tapedeck::storage_node {

// One thread.
class Serving {
 public:
  // gRPC has been started (services/rpc/grpc_process.h). Takes work once it returns. Errors name
  // what of the settings cannot be used, and why.
  static absl::StatusOr<std::unique_ptr<Serving>> Start(const Settings& settings);
  ~Serving();  // ends, if it has not

  // Of the gRPC services.
  int port() const;

  // Takes no more work. Sessions that have not ended by themselves 4 s before the grace of the
  // settings is over are cut and sealed. Ends the process when the grace is over and something
  // still waits, for as long as this lives. Once.
  void End();

 private:
  struct Parts;

  explicit Serving(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
  bool ended_ = false;
};

}  // namespace tapedeck::storage_node
