// Sources, transforms and sinks as people write them. Which there are is the worker's to say; here
// only the form is checked.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/model/words/stage_spec.h"

namespace tapedeck::services::tapectl {

inline constexpr char kStageForm[] = "NAME or NAME:KEY=VALUE,...";
// Of what may be a file.
inline constexpr char kEndForm[] = "NAME, NAME:KEY=VALUE,... or file:PATH";
// Standard input or output of tapectl.
inline constexpr char kPipeEnd[] = "-";

// NAME, or NAME:KEY=VALUE,...; what follows a comma and has no "=" belongs to the value before it.
// Values stay texts.
absl::StatusOr<StageSpec> ParseStage(absl::string_view text);

// The same, kPipeEnd as a stage of that name, and file:PATH for the file source or sink; the path
// becomes absolute, as the shell means it.
absl::StatusOr<StageSpec> ParseEnd(absl::string_view text);

// For an option of its own that sets a parameter. INVALID_ARGUMENT if the parameter is there.
absl::Status SetParameter(StageSpec& stage, const std::string& name, ParameterValue value);

}  // namespace tapedeck::services::tapectl
