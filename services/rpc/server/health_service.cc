#include "services/rpc/server/health_service.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "services/rpc/server/dispatch.h"
#include "services/rpc/server/ticking_reactor.h"

namespace tapedeck::services::server {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

class HealthService final : public Health::CallbackService {
 public:
  HealthService(Dispatch& dispatch, std::set<std::string> names)
      : dispatch_(dispatch, Health::service_full_name()), names_(std::move(names)) {}

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const HealthCheckRequest* request,
                                  HealthCheckResponse* response) override {
    return dispatch_.Unary(context, *request, "Check", Work::kOther, [=, this] {
      response->set_status(StatusOf(request->service()));
      if (response->status() != HealthCheckResponse::SERVICE_UNKNOWN) return absl::OkStatus();
      return absl::NotFoundError(
          absl::StrCat("Health.Check: no service \"", request->service(), "\" here"));
    });
  }

  grpc::ServerWriteReactor<HealthCheckResponse>* Watch(grpc::CallbackServerContext* context,
                                                       const HealthCheckRequest* request) override {
    auto look = [this, name = request->service(), first = true](
                    const identity::Access&,
                    HealthCheckResponse& response) mutable -> absl::StatusOr<Look> {
      const auto status = StatusOf(name);
      if (!std::exchange(first, false) && status == response.status()) return Look::kNothing;
      response.set_status(status);
      return Look::kSend;
    };
    return TickingReactor<HealthCheckResponse>::Start(dispatch_, context, *request, "Watch",
                                                      absl::Milliseconds(500), std::move(look));
  }

 private:
  HealthCheckResponse::ServingStatus StatusOf(const std::string& name) const {
    if (!name.empty() && !names_.contains(name)) return HealthCheckResponse::SERVICE_UNKNOWN;
    return dispatch_.draining() ? HealthCheckResponse::NOT_SERVING : HealthCheckResponse::SERVING;
  }

  const ServiceDispatch dispatch_;
  const std::set<std::string> names_;
};

}  // namespace

Service MakeHealthService(Dispatch& dispatch, std::set<std::string> names) {
  return {.name = Health::service_full_name(),
          .handlers = std::make_shared<HealthService>(dispatch, std::move(names))};
}

}  // namespace tapedeck::services::server
