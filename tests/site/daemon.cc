#include "tests/site/daemon.h"

#include <signal.h>
#include <stdlib.h>

#include <string>
#include <utility>

#include "dataplane/status_macros.h"
#include "gpu_worker/serving.h"
#include "services/rpc/grpc_process.h"
#include "storage_node/serving.h"
#include "tests/site/programs.h"

namespace tapedeck::site {
namespace {

class InProcess final : public Daemon {
 public:
  explicit InProcess(std::unique_ptr<services::Serving> serving) : serving_(std::move(serving)) {}
  int port() const override { return serving_->port(); }

 private:
  const std::unique_ptr<services::Serving> serving_;
};

// What main does before it serves, once.
absl::Status Prepare() {
  static const absl::Status status = [] {
    signal(SIGPIPE, SIG_IGN);
    return services::StartGrpc();
  }();
  return status;
}

template <typename Settings>
absl::StatusOr<std::unique_ptr<Daemon>> Start(const Settings& settings) {
  const char* folder = getenv("TAPEDECK_BIN");
  if (folder != nullptr) return StartProgram(folder, settings);
  TD_RETURN_IF_ERROR(Prepare());
  TD_ASSIGN_OR_RETURN(auto serving, StartServing(settings));
  return std::make_unique<InProcess>(std::move(serving));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Daemon>> StartDaemon(const storage_node::Settings& settings) {
  return Start(settings);
}

absl::StatusOr<std::unique_ptr<Daemon>> StartDaemon(const gpu_worker::Settings& settings) {
  return Start(settings);
}

}  // namespace tapedeck::site
