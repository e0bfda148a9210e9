// The refusal of what an identity may not do.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services::identity {

// Any of them may be empty.
struct Denial {
  std::string identity;
  std::string role;  // that it needs
  std::string resource;
};

// PERMISSION_DENIED (ACCESS_DENIED).
absl::Status AccessDenied(const Denial& denial, absl::string_view text);
bool IsAccessDenied(const absl::Status& status);

}  // namespace tapedeck::services::identity
