// One object as rows of a table for a person: what it is called, and its value with its unit. What
// is not set is left out; the JSON answer has all of it.
#pragma once

#include <string>
#include <vector>

#include "services/model/recording/stream.h"
#include "services/model/seams/catalog.h"
#include "services/model/seams/jobs.h"

namespace tapedeck::services::tapectl {

// {"capacity", "1 GiB"}, {"max age", "1h"}
std::vector<std::vector<std::string>> FieldsOf(const Lun& lun);
std::vector<std::vector<std::string>> FieldsOf(const Channel& channel);
std::vector<std::vector<std::string>> FieldsOf(const Stream& stream);
std::vector<std::vector<std::string>> FieldsOf(const Job& job);

}  // namespace tapedeck::services::tapectl
