#include "dataplane/reason.h"
#include "dataplane/transport/verbs/transport.h"

namespace tapedeck::dataplane::verbs {

absl::Status Usable() {
  return WithReason(
      absl::FailedPreconditionError("built without verbs: install libibverbs-dev and "
                                    "librdmacm-dev, and build with -DTAPEDECK_VERBS=ON"),
      "NO_RDMA_DEVICE");
}

std::string LoopbackAddress() { return ""; }

absl::StatusOr<std::unique_ptr<Transport>> Create(const RailSpec& /*spec*/, EventLoop& /*poller*/) {
  return Usable();
}

}  // namespace tapedeck::dataplane::verbs
