// The JSON objects that answers are made of: numbers are numbers, times RFC 3339, MB 10^6 bytes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/status/status.h"
#include "services/model/recording/stream.h"
#include "services/model/seams/catalog.h"
#include "services/model/seams/jobs.h"
#include "services/model/seams/node.h"
#include "services/model/seams/recorder.h"
#include "services/model/seams/scrub.h"
#include "services/model/view.h"
#include "services/observe/explain/explanation.h"

namespace tapedeck::services::tapectl {

using Json = nlohmann::ordered_json;

// In one line. Text that is not UTF-8, which a file name may be, is made so. Control characters are
// escaped, DEL and C1 included, which terminals obey.
std::string Dump(const Json& json);

Json ToJson(const Lun& lun);
Json ToJson(const Channel& channel);
Json ToJson(const Recording& recording);
// Of a stream with `segments`, `first_segment` and `last_segment` in place of the number of one.
Json ToJson(const Stream& stream);
Json ToJson(const DamagedBlock& block);
Json ToJson(const Annotation& annotation);
Json ToJson(const Capture& capture);
Json ToJson(const Scrub& scrub);
Json ToJson(const Job& job);
// [{code, text, and each fact by its key}]
Json NotesAsJson(const Notes& notes);
Json ToJson(const NodeInfo& node);
Json ToJson(const explain::Explanation& explanation);
// `powers` in one list.
Json ToJson(const Spectrogram& spectrogram);
// {code, reason, message, metadata}
Json ToJson(const absl::Status& error);

}  // namespace tapedeck::services::tapectl
