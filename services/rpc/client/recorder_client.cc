#include "services/rpc/client/recorder_client.h"

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/recording/lost.h"
#include "services/rpc/client/calls/ask.h"
#include "services/rpc/convert/recorder.h"
#include "services/rpc/limits.h"
#include "tapedeck/v1/recorder.pb.h"

namespace tapedeck::services::client {

namespace {

// What is left of it; `next_sample` 0: all.
Annotation From(const Annotation& annotation, uint64_t next_sample) {
  if (next_sample <= annotation.sample_start) return annotation;
  if (next_sample - annotation.sample_start < annotation.sample_count) {
    return model::PartOf(annotation, next_sample, UINT64_MAX);
  }
  Annotation rest = annotation;
  rest.sample_start = next_sample;
  rest.sample_count = 0;
  return rest;
}

// Whether some of them are done, or of the next one, which is there, some samples and not all.
bool GetsFurther(const v1::AnnotateRecordingRequest& sent,
                 const v1::AnnotateRecordingResponse& response) {
  const auto all = static_cast<uint64_t>(sent.annotations_size());
  if (response.done() > all || response.left_out() > response.done()) return false;
  if (response.next_sample() == 0) return response.done() > 0;
  if (!sent.stream() || response.done() == all) return false;
  const v1::Annotation& next = sent.annotations(static_cast<int>(response.done()));
  return response.next_sample() > next.sample_start() &&
         response.next_sample() - next.sample_start() < next.sample_count();
}

}  // namespace

absl::StatusOr<std::vector<Capture>> RecorderClient::TriggerRecording(const std::string& channel,
                                                                      const Trigger& trigger) {
  const v1::TriggerRecordingRequest request = convert::ToProto(channel, trigger);
  v1::TriggerRecordingResponse response;
  TD_RETURN_IF_ERROR(Call("TriggerRecording", request, response));
  std::vector<Capture> captures;
  for (const v1::Capture& capture : response.captures()) {
    captures.push_back(convert::FromProto(capture));
  }
  return captures;
}

absl::Status RecorderClient::AnnotateRecording(const std::string& recording,
                                               const Annotation& annotation) {
  v1::AnnotateRecordingRequest request;
  request.set_recording(recording);
  *request.mutable_annotation() = convert::ToProto(annotation);
  v1::AnnotateRecordingResponse response;
  return Call("AnnotateRecording", request, response);
}

absl::Status RecorderClient::Annotate(const std::string& recording,
                                      std::span<const Annotation> annotations,
                                      const std::function<bool()>& go_on, size_t* done) {
  *done = 0;
  while (*done < annotations.size()) {
    if (!go_on()) return JobCancelled();
    model::Marked marked;
    TD_RETURN_IF_ERROR(Add(recording, /*stream=*/false, annotations.subspan(*done), &marked));
    *done += marked.done;
  }
  return absl::OkStatus();
}

absl::Status RecorderClient::AnnotateStream(const std::string& recording,
                                            std::span<const Annotation> annotations,
                                            model::Marked* marked) {
  return Add(recording, /*stream=*/true, annotations.subspan(marked->done), marked);
}

absl::Status RecorderClient::Add(const std::string& recording, bool stream,
                                 std::span<const Annotation> annotations, model::Marked* marked) {
  v1::AnnotateRecordingRequest request;
  request.set_recording(recording);
  request.set_stream(stream);
  size_t bytes = 0;
  for (const Annotation& one : annotations) {
    bytes += BytesOf(one);
    const bool fits = bytes <= kMaxRequestBytes / 2 &&
                      request.annotations_size() < int{model::kMaxAnnotationsAtOnce};
    if (!fits && request.annotations_size() > 0) break;
    *request.add_annotations() =
        convert::ToProto(request.annotations().empty() ? From(one, marked->next_sample) : one);
  }
  v1::AnnotateRecordingResponse response;
  TD_RETURN_IF_ERROR(Call("AnnotateRecording", request, response));
  if (!GetsFurther(request, response)) {
    return ProtocolViolation(
        {.message = "AnnotateRecordingResponse", .field = "done", .peer = node_.address},
        absl::StrCat(node_.address, " makes no progress with the annotations sent"));
  }
  marked->done += response.done();
  marked->next_sample = response.next_sample();
  marked->left_out += response.left_out();
  return absl::OkStatus();
}

absl::Status RecorderClient::KeepRecording(const std::string& recording, bool kept) {
  v1::KeepRecordingRequest request;
  request.set_recording(recording);
  request.set_kept(kept);
  return Call("KeepRecording", request);
}

absl::StatusOr<Scrub> RecorderClient::StartScrub(const ScrubStart& start) {
  return Ask<Scrub>(*this, "StartScrub", start);
}

absl::StatusOr<Scrub> RecorderClient::GetScrub(const std::string& parent) {
  v1::GetScrubRequest request;
  request.set_parent(parent);
  v1::Scrub response;
  TD_RETURN_IF_ERROR(Call("GetScrub", request, response));
  return convert::FromProto(response);
}

absl::StatusOr<Scrub> RecorderClient::StopScrub(const std::string& parent) {
  v1::StopScrubRequest request;
  request.set_parent(parent);
  v1::Scrub response;
  TD_RETURN_IF_ERROR(Call("StopScrub", request, response));
  return convert::FromProto(response);
}

}  // namespace tapedeck::services::client
