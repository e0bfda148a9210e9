// How a recording was made, as the tapedeck extension of SigMF tells it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "services/model/recording/group.h"
#include "services/model/recording/origin.h"

namespace tapedeck::services::sigmf {

// As core:datetime has it, in UTC.
std::string TimeOf(int64_t ns);

// What is empty is left out.
nlohmann::json JsonOf(const model::Origin& origin);
nlohmann::json JsonOf(const model::RecordingGroup& group);
nlohmann::json JsonOf(const std::vector<model::OriginStage>& stages);

// The other way: what made the samples of a file that Tapedeck exported. None: it is no list of
// stages, or one that no origin takes.
std::optional<std::vector<model::OriginStage>> StagesIn(const nlohmann::json& list);

}  // namespace tapedeck::services::sigmf
