// What a SigMF file says of all its samples, and no field of a recording has. Any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/model/words/note.h"
#include "services/signal/sigmf/meta.h"

namespace tapedeck::services::sigmf {

// What our own keys begin with.
inline constexpr char kOwnKey[] = "tapedeck:";

// JSON on one line; what is no UTF-8 is replaced.
std::string Dumped(const nlohmann::json& value);

// For model::Origin: a JSON object, or empty. `notes` name what is left out, and what the file
// wants to be understood that is only kept. RESOURCE_EXHAUSTED (LIMIT_REACHED): a recording keeps
// less.
absl::StatusOr<std::string> MetadataOf(const SigmfRecording& meta, model::Notes* notes);

}  // namespace tapedeck::services::sigmf
