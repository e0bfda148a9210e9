#include <memory>
#include <utility>

#include "services/model/seams/node.h"
#include "services/rpc/convert/node.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/convert/values/time.h"
#include "services/rpc/server/dispatch.h"
#include "services/rpc/server/handlers/services.h"
#include "services/rpc/server/ticking_reactor.h"
#include "tapedeck/v1/node.grpc.pb.h"

namespace tapedeck::services::server {
namespace {

using grpc::CallbackServerContext;

// Any thread.
class NodeService final : public v1::NodeService::CallbackService {
 public:
  NodeService(Dispatch& dispatch, const NodeDescriber& describer)
      : dispatch_(dispatch, v1::NodeService::service_full_name()), describer_(describer) {}

  grpc::ServerUnaryReactor* GetNode(CallbackServerContext* context,
                                    const v1::GetNodeRequest* request,
                                    v1::Node* response) override {
    return dispatch_.Unary(context, *request, "GetNode", Work::kOther, [=, this] {
      *response = convert::ToProto(describer_.Describe());
      return absl::OkStatus();
    });
  }

  grpc::ServerWriteReactor<v1::WatchStatsResponse>* WatchStats(
      CallbackServerContext* context, const v1::WatchStatsRequest* request) override {
    const absl::StatusOr<absl::Duration> interval = IntervalOf(*request);
    auto look = [this, problem = interval.status()](
                    const identity::Access&,
                    v1::WatchStatsResponse& response) -> absl::StatusOr<Look> {
      if (!problem.ok()) return problem;
      response = convert::ToProto(describer_.Stats());
      return Look::kSend;
    };
    return TickingReactor<v1::WatchStatsResponse>::Start(dispatch_, context, *request, "WatchStats",
                                                         interval.value_or(absl::Seconds(1)),
                                                         std::move(look));
  }

 private:
  static absl::StatusOr<absl::Duration> IntervalOf(const v1::WatchStatsRequest& request) {
    if (!request.has_interval()) return absl::Seconds(1);
    const absl::Duration interval = absl::Nanoseconds(convert::FromDuration(request.interval()));
    if (interval < absl::Milliseconds(100) || interval > absl::Hours(1)) {
      return convert::FieldError("interval", "must be from 100 ms to 1 h");
    }
    return interval;
  }

  const ServiceDispatch dispatch_;
  const NodeDescriber& describer_;
};

}  // namespace

ServiceFactory NodeServiceOver(const NodeDescriber& describer) {
  return [&describer](Dispatch& dispatch) {
    return Service{.name = v1::NodeService::service_full_name(),
                   .handlers = std::make_shared<NodeService>(dispatch, describer)};
  };
}

}  // namespace tapedeck::services::server
