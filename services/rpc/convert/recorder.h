// Triggers, captures, annotations and scrubs to and from tapedeck.v1 messages.
#pragma once

#include "services/model/seams/recorder.h"
#include "services/model/seams/scrub.h"
#include "tapedeck/v1/recorder.pb.h"

namespace tapedeck::services::convert {

v1::Annotation ToProto(const Annotation& annotation);
Annotation FromProto(const v1::Annotation& annotation);

v1::TriggerRecordingRequest ToProto(const std::string& channel, const Trigger& trigger);
Trigger FromProto(const v1::TriggerRecordingRequest& request);

v1::Capture ToProto(const Capture& capture);
Capture FromProto(const v1::Capture& capture);

v1::Scrub ToProto(const Scrub& scrub);
Scrub FromProto(const v1::Scrub& scrub);

ScrubStart FromProto(const v1::StartScrubRequest& request);

}  // namespace tapedeck::services::convert
