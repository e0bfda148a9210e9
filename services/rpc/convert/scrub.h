// Scrubs to and from tapedeck.v1 messages.
#pragma once

#include "services/model/seams/scrub.h"
#include "tapedeck/v1/recorder.pb.h"

namespace tapedeck::services::convert {

v1::Scrub ToProto(const Scrub& scrub);
Scrub FromProto(const v1::Scrub& scrub);

v1::StartScrubRequest ToProto(const ScrubStart& start);
ScrubStart FromProto(const v1::StartScrubRequest& request);

}  // namespace tapedeck::services::convert
