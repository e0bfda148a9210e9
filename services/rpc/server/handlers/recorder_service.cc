#include <google/protobuf/empty.pb.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/model/seams/recorder.h"
#include "services/model/seams/scrub.h"
#include "services/model/words/resource_name.h"
#include "services/rpc/convert/recorder.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/server/dispatch.h"
#include "services/rpc/server/handlers/services.h"
#include "services/signal/sigmf/foreign_json.h"
#include "tapedeck/v1/recorder.grpc.pb.h"

namespace tapedeck::services::server {
namespace {

using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

// They are kept in the recording's manifest.
constexpr size_t kMaxTextBytes = 1024;

absl::Status CheckText(absl::string_view field, const std::string& text) {
  if (text.size() <= kMaxTextBytes) return absl::OkStatus();
  return convert::FieldError(field, "is longer than 1024 bytes");
}

absl::Status CheckAnnotation(absl::string_view field, const Annotation& annotation) {
  TD_RETURN_IF_ERROR(CheckText(absl::StrCat(field, ".label"), annotation.label));
  TD_RETURN_IF_ERROR(CheckText(absl::StrCat(field, ".comment"), annotation.comment));
  const std::string& details = annotation.details;
  if (details.size() > model::kMaxDetailsBytes) {
    return convert::FieldError(absl::StrCat(field, ".details"), "is longer than 16 KiB");
  }
  if (!details.empty() && !sigmf::ObjectOf(details).is_object()) {
    return convert::FieldError(absl::StrCat(field, ".details"), "is not a JSON object");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Annotation>> AnnotationsOf(const v1::AnnotateRecordingRequest& request) {
  std::vector<Annotation> annotations;
  if (request.has_annotation() || request.annotations().empty()) {
    annotations.push_back(convert::FromProto(request.annotation()));
    TD_RETURN_IF_ERROR(CheckAnnotation("annotation", annotations.back()));
  }
  if (request.annotations_size() > int{model::kMaxAnnotationsAtOnce}) {
    return convert::FieldError("annotations", "are more than 1000");
  }
  for (const v1::Annotation& one : request.annotations()) {
    annotations.push_back(convert::FromProto(one));
    TD_RETURN_IF_ERROR(CheckAnnotation("annotations", annotations.back()));
  }
  return annotations;
}

// Any thread. Each handler validates, converts, acts, converts.
class RecorderService final : public v1::RecorderService::CallbackService {
 public:
  RecorderService(Dispatch& dispatch, RecorderControl& recorder, ScrubControl& scrubs)
      : dispatch_(dispatch, v1::RecorderService::service_full_name()),
        recorder_(recorder),
        scrubs_(scrubs) {}

  ServerUnaryReactor* TriggerRecording(CallbackServerContext* context,
                                       const v1::TriggerRecordingRequest* request,
                                       v1::TriggerRecordingResponse* response) override {
    return dispatch_.Unary(
        context, *request, "TriggerRecording", Work::kOther,
        [=, this](const Call& call) -> absl::Status {
          TD_RETURN_IF_ERROR(CheckChannelName(request->channel()));
          TD_RETURN_IF_ERROR(CheckText("label", request->label()));
          TD_RETURN_IF_ERROR(CheckText("comment", request->comment()));
          Trigger trigger = convert::FromProto(*request);
          trigger.trace = call.trace;
          TD_ASSIGN_OR_RETURN(const std::vector<Capture> captures,
                              recorder_.TriggerRecording(request->channel(), trigger));
          for (const Capture& capture : captures) {
            *response->add_captures() = convert::ToProto(capture);
          }
          return absl::OkStatus();
        },
        request->channel());
  }

  ServerUnaryReactor* AnnotateRecording(CallbackServerContext* context,
                                        const v1::AnnotateRecordingRequest* request,
                                        v1::AnnotateRecordingResponse* response) override {
    return dispatch_.Unary(
        context, *request, "AnnotateRecording", Work::kOther,
        [=, this]() -> absl::Status {
          TD_RETURN_IF_ERROR(CheckRecordingName(request->recording()));
          TD_ASSIGN_OR_RETURN(const std::vector<Annotation> annotations, AnnotationsOf(*request));
          model::Marked marked{.done = annotations.size()};
          if (request->stream()) {
            TD_ASSIGN_OR_RETURN(marked,
                                recorder_.AnnotateStream(request->recording(), annotations));
          } else {
            TD_RETURN_IF_ERROR(recorder_.Annotate(request->recording(), annotations));
          }
          response->set_done(static_cast<uint32_t>(marked.done));
          response->set_next_sample(marked.next_sample);
          response->set_left_out(static_cast<uint32_t>(marked.left_out));
          return absl::OkStatus();
        },
        request->recording());
  }

  ServerUnaryReactor* KeepRecording(CallbackServerContext* context,
                                    const v1::KeepRecordingRequest* request,
                                    google::protobuf::Empty*) override {
    return dispatch_.Unary(
        context, *request, "KeepRecording", Work::kOther,
        [=, this]() -> absl::Status {
          TD_RETURN_IF_ERROR(CheckRecordingName(request->recording()));
          return recorder_.KeepRecording(request->recording(), request->kept());
        },
        request->recording());
  }

  ServerUnaryReactor* StartScrub(CallbackServerContext* context,
                                 const v1::StartScrubRequest* request,
                                 v1::Scrub* response) override {
    return Answer(context, *request, "StartScrub", request->parent(), response,
                  [=, this](const telemetry::trace::Branch& trace) {
                    ScrubStart start = convert::FromProto(*request);
                    start.trace = trace;
                    return scrubs_.StartScrub(start);
                  });
  }

  ServerUnaryReactor* GetScrub(CallbackServerContext* context, const v1::GetScrubRequest* request,
                               v1::Scrub* response) override {
    return Answer(context, *request, "GetScrub", request->parent(), response,
                  [=, this](const auto&) { return scrubs_.GetScrub(request->parent()); });
  }

  ServerUnaryReactor* StopScrub(CallbackServerContext* context, const v1::StopScrubRequest* request,
                                v1::Scrub* response) override {
    return Answer(context, *request, "StopScrub", request->parent(), response,
                  [=, this](const auto&) { return scrubs_.StopScrub(request->parent()); });
  }

 private:
  ServerUnaryReactor* Answer(
      CallbackServerContext* context, const google::protobuf::Message& request, const char* method,
      const std::string& parent, v1::Scrub* response,
      std::function<absl::StatusOr<Scrub>(const telemetry::trace::Branch&)> act) {
    return dispatch_.Unary(
        context, request, method, Work::kOther,
        [=](const Call& call) -> absl::Status {
          if (!CheckLunName(parent).ok()) TD_RETURN_IF_ERROR(CheckChannelName(parent));
          TD_ASSIGN_OR_RETURN(const Scrub scrub, act(call.trace));
          *response = convert::ToProto(scrub);
          return absl::OkStatus();
        },
        parent);
  }

  const ServiceDispatch dispatch_;
  RecorderControl& recorder_;
  ScrubControl& scrubs_;
};

}  // namespace

ServiceFactory RecorderServiceOver(RecorderControl& recorder, ScrubControl& scrubs) {
  return [&](Dispatch& dispatch) {
    return Service{.name = v1::RecorderService::service_full_name(),
                   .handlers = std::make_shared<RecorderService>(dispatch, recorder, scrubs)};
  };
}

}  // namespace tapedeck::services::server
