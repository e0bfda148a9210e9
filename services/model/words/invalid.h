// The error about one field of the model.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/base/errors.h"

namespace tapedeck::services::model {

// INVALID_ARGUMENT (ARGUMENT_INVALID): "FIELD: WHY".
inline absl::Status Invalid(absl::string_view field, absl::string_view why) {
  return ArgumentInvalid(field, absl::StrCat(field, ": ", why));
}

}  // namespace tapedeck::services::model
