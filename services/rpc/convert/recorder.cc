#include "services/rpc/convert/recorder.h"

#include "services/rpc/convert/values/message.h"

namespace tapedeck::services::convert {

v1::Annotation ToProto(const Annotation& annotation) {
  v1::Annotation out;
  out.set_sample_start(annotation.sample_start);
  out.set_sample_count(annotation.sample_count);
  out.set_label(annotation.label);
  out.set_comment(annotation.comment);
  out.set_details(annotation.details);
  out.set_foreign(annotation.foreign);
  return out;
}

Annotation FromProto(const v1::Annotation& annotation) {
  return {.sample_start = annotation.sample_start(),
          .sample_count = annotation.sample_count(),
          .label = annotation.label(),
          .comment = annotation.comment(),
          .details = annotation.details(),
          .foreign = annotation.foreign()};
}

v1::TriggerRecordingRequest ToProto(const std::string& channel, const Trigger& trigger) {
  v1::TriggerRecordingRequest out;
  out.set_channel(channel);
  if (trigger.sample.has_value()) out.set_sample(*trigger.sample);
  out.set_label(trigger.label);
  out.set_comment(trigger.comment);
  return out;
}

Trigger FromProto(const v1::TriggerRecordingRequest& request) {
  Trigger out{.comment = request.comment()};
  if (request.has_sample()) out.sample = request.sample();
  if (!request.label().empty()) out.label = request.label();
  return out;
}

v1::Capture ToProto(const Capture& capture) { return Written<v1::Capture>(capture); }
Capture FromProto(const v1::Capture& capture) { return ReadSound<Capture>(capture); }

v1::Scrub ToProto(const Scrub& scrub) { return Written<v1::Scrub>(scrub); }
Scrub FromProto(const v1::Scrub& scrub) { return ReadSound<Scrub>(scrub); }

ScrubStart FromProto(const v1::StartScrubRequest& request) {
  return ReadSound<ScrubStart>(request);
}

}  // namespace tapedeck::services::convert
