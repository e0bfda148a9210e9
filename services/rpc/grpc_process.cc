#include "services/rpc/grpc_process.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>

#include <thread>

#include "absl/strings/match.h"
#include "dataplane/executor/thread.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services {

absl::Status StartGrpc() {
  return WithLowPriority([] { grpc_init(); });
}

absl::Status WithLowPriority(const std::function<void()>& make) {
  TD_ASSIGN_OR_RETURN(std::thread thread, dataplane::StartThread("low", [&] {
                        dataplane::LowerPriority();
                        make();
                      }));
  thread.join();
  return absl::OkStatus();
}

void RouteGrpcLog() {
  gpr_set_log_function([](gpr_log_func_args* args) {
    if (args->severity < GPR_LOG_SEVERITY_ERROR) return;
    // Its own end, where a timer of its poller was still to come.
    if (absl::StrContains(args->message, "Timer list shutdown")) return;
    dataplane::Log(dataplane::LogLevel::kWarning, "grpc", args->message);
  });
}

}  // namespace tapedeck::services
