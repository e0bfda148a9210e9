#include <memory>

#include "dataplane/clock.h"
#include "dataplane/status_macros.h"
#include "services/observe/doctor/doctor.h"
#include "services/rpc/convert/diagnostics.h"
#include "services/rpc/convert/values/time.h"
#include "services/rpc/server/dispatch.h"
#include "services/rpc/server/handlers/services.h"
#include "tapedeck/v1/doctor.grpc.pb.h"

namespace tapedeck::services::server {
namespace {

// Any thread.
class DoctorService final : public v1::DoctorService::CallbackService {
 public:
  DoctorService(Dispatch& dispatch, doctor::Doctor& doctor)
      : dispatch_(dispatch, v1::DoctorService::service_full_name()), doctor_(doctor) {}

  // It waits for disks and other machines: elsewhere.
  grpc::ServerUnaryReactor* Diagnose(grpc::CallbackServerContext* context,
                                     const v1::DiagnoseRequest* request,
                                     v1::DiagnoseResponse* response) override {
    return dispatch_.Unary(
        context, *request, "Diagnose", Work::kNewElsewhere, [=, this]() -> absl::Status {
          TD_ASSIGN_OR_RETURN(const doctor::Request asked, convert::FromProto(*request));
          TD_ASSIGN_OR_RETURN(const doctor::Diagnosis diagnosis, doctor_.Examine(asked));
          *response = convert::ToProto(diagnosis);
          return absl::OkStatus();
        });
  }

  // At once, on gRPC's thread: whatever waits makes the caller less sure.
  grpc::ServerUnaryReactor* ReadClock(grpc::CallbackServerContext* context,
                                      const v1::ReadClockRequest* request,
                                      v1::ReadClockResponse* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    const absl::Status status = dispatch_.Enter(*context, "ReadClock", *request).status();
    *response->mutable_time() = convert::ToTimestamp(dataplane::SystemClock().WallNs());
    if (status.ok()) {
      reactor->Finish(grpc::Status::OK);
    } else {
      dispatch_.Refuse(reactor, *context, "ReadClock", status);
    }
    return reactor;
  }

 private:
  const ServiceDispatch dispatch_;
  doctor::Doctor& doctor_;
};

}  // namespace

ServiceFactory DoctorServiceOver(doctor::Doctor& doctor) {
  return [&doctor](Dispatch& dispatch) {
    return Service{.name = v1::DoctorService::service_full_name(),
                   .handlers = std::make_shared<DoctorService>(dispatch, doctor)};
  };
}

}  // namespace tapedeck::services::server
