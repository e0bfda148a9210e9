#include <memory>
#include <string>
#include <utility>

#include "dataplane/now.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/seams/view.h"
#include "services/model/words/resource_name.h"
#include "services/rpc/convert/view.h"
#include "services/rpc/server/dispatch.h"
#include "services/rpc/server/handlers/services.h"
#include "services/rpc/server/handlers/validate.h"
#include "tapedeck/v1/view.grpc.pb.h"

namespace tapedeck::services::server {
namespace {

using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

// Who has waited so long for others' pictures has gone on to another one.
constexpr absl::Duration kLongestWait = absl::Seconds(10);

// Any thread. Each handler validates, converts, acts, converts.
class ViewService final : public v1::ViewService::CallbackService {
 public:
  ViewService(Dispatch& dispatch, ViewControl& view)
      : dispatch_(dispatch, v1::ViewService::service_full_name()), view_(view) {}

  ServerUnaryReactor* GetTimeline(CallbackServerContext* context,
                                  const v1::GetTimelineRequest* request,
                                  v1::Timeline* response) override {
    return Answer(context, *request, "GetTimeline", [=, this]() -> absl::Status {
      TD_RETURN_IF_ERROR(CheckRecordingName(request->recording()));
      TD_ASSIGN_OR_RETURN(const Timeline timeline, view_.GetTimeline(request->recording()));
      *response = convert::ToProto(timeline);
      return absl::OkStatus();
    });
  }

  ServerUnaryReactor* ReadSpectrogram(CallbackServerContext* context,
                                      const v1::ReadSpectrogramRequest* request,
                                      v1::Spectrogram* response) override {
    return Read(context, request, "ReadSpectrogram", response, &ViewControl::ReadSpectrogram);
  }

  ServerUnaryReactor* ReadSamples(CallbackServerContext* context,
                                  const v1::ReadSamplesRequest* request,
                                  v1::Samples* response) override {
    return Read(context, request, "ReadSamples", response, &ViewControl::ReadSamples);
  }

  ServerUnaryReactor* ReadEnvelope(CallbackServerContext* context,
                                   const v1::ReadEnvelopeRequest* request,
                                   v1::Envelope* response) override {
    return Read(context, request, "ReadEnvelope", response, &ViewControl::ReadEnvelope);
  }

 private:
  // Calls that look into the same LUN wait for each other.
  template <typename Request, typename Act>
  ServerUnaryReactor* Answer(CallbackServerContext* context, const Request& request,
                             const char* method, Act act) {
    const absl::Time until = dataplane::SteadyTime() + kLongestWait;
    return dispatch_.Unary(
        context, request, method, Work::kNewView,
        [until, act = std::move(act), recording = request.recording()]() -> absl::Status {
          if (dataplane::SteadyTime() < until) return act();
          const std::string lun = recording.substr(0, recording.find("/channels/"));
          return LunNotResponding(lun, lun + ": other views have kept it too long; try again");
        },
        request.recording());
  }

  template <typename Request, typename Response, typename Method>
  ServerUnaryReactor* Read(CallbackServerContext* context, const Request* request,
                           const char* method, Response* response, Method read) {
    return Answer(context, *request, method, [=, this]() -> absl::Status {
      const auto asked = convert::FromProto(*request);
      TD_RETURN_IF_ERROR(CheckView(asked));
      TD_ASSIGN_OR_RETURN(const auto seen, (view_.*read)(asked));
      *response = convert::ToProto(seen);
      return absl::OkStatus();
    });
  }

  const ServiceDispatch dispatch_;
  ViewControl& view_;
};

}  // namespace

ServiceFactory ViewServiceOver(ViewControl& view) {
  return [&view](Dispatch& dispatch) {
    return Service{.name = v1::ViewService::service_full_name(),
                   .handlers = std::make_shared<ViewService>(dispatch, view)};
  };
}

}  // namespace tapedeck::services::server
