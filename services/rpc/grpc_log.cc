#include "services/rpc/grpc_log.h"

#include <grpc/support/log.h>

#include "dataplane/log.h"

namespace tapedeck::services {

void RouteGrpcLog() {
  gpr_set_log_function([](gpr_log_func_args* args) {
    if (args->severity < GPR_LOG_SEVERITY_ERROR) return;
    dataplane::Log(dataplane::LogLevel::kWarning, "grpc", args->message);
  });
}

}  // namespace tapedeck::services
