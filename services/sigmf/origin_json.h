// How a recording was made, as the tapedeck extension of SigMF tells it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "services/model/group.h"
#include "services/model/origin.h"

namespace tapedeck::services::sigmf {

// As core:datetime has it, in UTC.
std::string TimeOf(int64_t ns);

// What is empty is left out.
nlohmann::json JsonOf(const model::Origin& origin);
nlohmann::json JsonOf(const model::RecordingGroup& group);

}  // namespace tapedeck::services::sigmf
