#include <memory>

#include "dataplane/status_macros.h"
#include "services/model/seams/inlets.h"
#include "services/rpc/convert/jobs.h"
#include "services/rpc/server/dispatch.h"
#include "services/rpc/server/handlers/services.h"
#include "services/rpc/server/handlers/validate.h"
#include "tapedeck/v1/inlet.grpc.pb.h"

namespace tapedeck::services::server {
namespace {

using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

// Any thread. Each handler validates, converts, acts, converts.
class InletService final : public v1::InletService::CallbackService {
 public:
  InletService(Dispatch& dispatch, Inlets& inlets)
      : dispatch_(dispatch, v1::InletService::service_full_name()), inlets_(inlets) {}

  ServerUnaryReactor* StartReceive(CallbackServerContext* context,
                                   const v1::StartReceiveRequest* request,
                                   v1::Job* response) override {
    return dispatch_.Unary(context, *request, "StartReceive", Work::kNew,
                           [=, this](const Call& call) -> absl::Status {
                             TD_ASSIGN_OR_RETURN(ReceiveSpec spec, convert::FromProto(*request));
                             spec.transfer.trace = call.trace;
                             spec.transfer.caller = call.access.who();
                             TD_RETURN_IF_ERROR(CheckReceiveSpec(spec));
                             TD_ASSIGN_OR_RETURN(const Job job, inlets_.StartReceive(spec));
                             *response = convert::ToProto(job);
                             return absl::OkStatus();
                           });
  }

  ServerUnaryReactor* GetInlet(CallbackServerContext* context, const v1::GetInletRequest* request,
                               v1::Inlet* response) override {
    return dispatch_.Unary(
        context, *request, "GetInlet", Work::kOther, [=, this](const Call&) -> absl::Status {
          TD_RETURN_IF_ERROR(CheckInletName(request->name()));
          TD_ASSIGN_OR_RETURN(const Inlet inlet, inlets_.GetInlet(request->name()));
          *response = convert::ToProto(inlet);
          return absl::OkStatus();
        });
  }

 private:
  const ServiceDispatch dispatch_;
  Inlets& inlets_;
};

}  // namespace

ServiceFactory InletServiceOver(Inlets& inlets) {
  return [&inlets](Dispatch& dispatch) {
    return Service{.name = v1::InletService::service_full_name(),
                   .handlers = std::make_shared<InletService>(dispatch, inlets)};
  };
}

}  // namespace tapedeck::services::server
