#include "services/server/dispatch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dataplane/log.h"
#include "services/convert/status.h"
#include "services/errors.h"

namespace tapedeck::services::server {

using dataplane::Log;
using dataplane::LogLevel;

namespace {

// "luns/{lun}" of a name that may be wrong.
std::string LunOf(absl::string_view resource) {
  constexpr size_t kLongest = 80;  // no LUN's name is longer
  const size_t end = resource.find('/', sizeof("luns/") - 1);
  return std::string(resource.substr(0, std::min(end, kLongest)));
}

}  // namespace

grpc::ServerUnaryReactor* Dispatch::Unary(grpc::CallbackServerContext* context,
                                          absl::string_view method, Work work, Handler handler,
                                          absl::string_view resource) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  auto call = [this, context, method, work, handler = std::move(handler), reactor] {
    absl::Status status = Admit(work);
    if (status.ok() && context->IsCancelled()) status = absl::CancelledError("the caller left");
    if (status.ok()) status = handler();
    Finish(reactor, *context, method, status);
  };
  absl::Status taken;
  if (!resource.empty()) {
    taken = lun_calls_.TryRun(LunOf(resource), std::move(call));
  } else if (work == Work::kNewElsewhere) {
    taken = waiting_threads_.Run(std::move(call));
  } else {
    taken = threads_.Run(std::move(call));
  }
  if (!taken.ok()) Finish(reactor, *context, method, taken);
  return reactor;
}

absl::Status Dispatch::Admit(Work work) const {
  if (work == Work::kOther || !draining_) return absl::OkStatus();
  return Draining("the node is shutting down and takes no new work; try again when it is up");
}

grpc::Status Dispatch::Conclude(const grpc::CallbackServerContext& context,
                                absl::string_view method, const absl::Status& status) const {
  if (!status.ok() && !absl::IsCancelled(status)) {
    const auto reason = ReasonOf(status);
    Log(LogLevel::kInfo, "services/server", "call failed",
        {{"method", std::string(method)},
         {"peer", context.peer()},
         {"code", absl::StatusCodeToString(status.code())},
         {"reason", reason.has_value() ? reason->reason : ""},
         {"error", std::string(status.message())}});
  }
  return convert::ToGrpc(status);
}

}  // namespace tapedeck::services::server
