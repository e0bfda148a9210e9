#include "services/rpc/grpc_threads.h"

#include <grpc/grpc.h>

#include <thread>

#include "dataplane/executor/thread.h"
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

}  // namespace tapedeck::services
