#include <memory>

#include "dataplane/status_macros.h"
#include "services/observe/flight/reader.h"
#include "services/rpc/convert/diagnostics.h"
#include "services/rpc/server/dispatch.h"
#include "services/rpc/server/handlers/services.h"
#include "tapedeck/v1/trace.grpc.pb.h"

namespace tapedeck::services::server {
namespace {

// Any thread.
class TraceService final : public v1::TraceService::CallbackService {
 public:
  TraceService(Dispatch& dispatch, const flight::Reader& reader)
      : dispatch_(dispatch, v1::TraceService::service_full_name()), reader_(reader) {}

  grpc::ServerUnaryReactor* ReadTrace(grpc::CallbackServerContext* context,
                                      const v1::ReadTraceRequest* request,
                                      v1::ReadTraceResponse* response) override {
    return dispatch_.Unary(
        context, *request, "ReadTrace", Work::kOther, [=, this]() -> absl::Status {
          TD_ASSIGN_OR_RETURN(const flight::TraceRequest asked, convert::FromProto(*request));
          TD_ASSIGN_OR_RETURN(const flight::TracePage page, reader_.Read(asked));
          *response = convert::ToProto(page);
          return absl::OkStatus();
        });
  }

 private:
  const ServiceDispatch dispatch_;
  const flight::Reader& reader_;
};

}  // namespace

ServiceFactory TraceServiceOver(const flight::Reader& reader) {
  return [&reader](Dispatch& dispatch) {
    return Service{.name = v1::TraceService::service_full_name(),
                   .handlers = std::make_shared<TraceService>(dispatch, reader)};
  };
}

}  // namespace tapedeck::services::server
