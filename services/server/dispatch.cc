#include "services/server/dispatch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "services/convert/status.h"
#include "services/errors.h"

namespace tapedeck::services::server {

using dataplane::Log;
using dataplane::LogLevel;

namespace {

// `what` goes on after the number of them.
absl::Status TooManyWait(size_t most, absl::string_view what) {
  return WithReason(absl::ResourceExhaustedError(
                        absl::StrCat(most, what, " already; try again when one of them has ended")),
                    "LIMIT_REACHED",
                    {{"limit", absl::StrCat(most)}, {"option", "calls that wait"}});
}

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
    reactor->Finish(Conclude(*context, method, status));
  };
  if (!resource.empty()) {
    const absl::Status queued = lun_calls_.TryRun(LunOf(resource), std::move(call));
    if (!queued.ok()) reactor->Finish(Conclude(*context, method, queued));
  } else if (work != Work::kNewElsewhere) {
    if (!threads_.Run(std::move(call))) {
      reactor->Finish(Conclude(*context, method, TooManyWait(kMaxWaitingCalls, " calls wait")));
    }
  } else if (!waiting_threads_.TryRun(std::move(call))) {
    reactor->Finish(Conclude(
        *context, method, TooManyWait(waiting_threads_.most(), " calls wait for other machines")));
  }
  return reactor;
}

absl::Status Dispatch::Admit(Work work) const {
  if (work == Work::kOther || !draining_) return absl::OkStatus();
  return WithReason(absl::UnavailableError(
                        "the node is shutting down and takes no new work; try again when it is up"),
                    "DRAINING");
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
