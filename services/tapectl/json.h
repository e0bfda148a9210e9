// The JSON that tapectl prints: numbers are numbers, times RFC 3339, MB 10^6 bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "services/catalog.h"
#include "services/jobs.h"
#include "services/node.h"
#include "services/recorder.h"
#include "services/scrub.h"

namespace tapedeck::services::tapectl {

using Json = nlohmann::ordered_json;

Json ToJson(const Lun& lun);
Json ToJson(const Channel& channel);
Json ToJson(const Recording& recording);
Json ToJson(const DamagedBlock& block);
Json ToJson(const Annotation& annotation);
Json ToJson(const Capture& capture);
Json ToJson(const Scrub& scrub);
Json ToJson(const Job& job);
Json ToJson(const NodeInfo& node);
// {code, reason, message, metadata}
Json ToJson(const absl::Status& error);

std::string StateName(LunState state);
std::string StateName(JobState state);

// 10^6 bytes per second.
double MegabytesPerSecond(uint64_t bytes, int64_t elapsed_ns);

// One line. Text that is not UTF-8, which a file name may be, is made so.
std::string Dump(const Json& json);

}  // namespace tapedeck::services::tapectl
