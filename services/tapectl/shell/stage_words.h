// What may follow the name of a stage of a worker, for completion: the worker itself says of a
// parameter only whether it has it.
#pragma once

#include <span>

#include "absl/strings/string_view.h"

namespace tapedeck::services::tapectl {

// `role` is source, transform or sink. None of a stage that is not known here.
std::span<const absl::string_view> ParametersOf(absl::string_view role, absl::string_view stage);

}  // namespace tapedeck::services::tapectl
