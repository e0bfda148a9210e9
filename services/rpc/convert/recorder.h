// Triggers, captures and annotations to and from tapedeck.v1 messages.
#pragma once

#include "services/model/seams/recorder.h"
#include "tapedeck/v1/recorder.pb.h"

namespace tapedeck::services::convert {

v1::Annotation ToProto(const Annotation& annotation);
Annotation FromProto(const v1::Annotation& annotation);

v1::TriggerRecordingRequest ToProto(const std::string& channel, const Trigger& trigger);
Trigger FromProto(const v1::TriggerRecordingRequest& request);

v1::Capture ToProto(const Capture& capture);
Capture FromProto(const v1::Capture& capture);

}  // namespace tapedeck::services::convert
