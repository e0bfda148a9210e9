// The storage nodes of a job, as its text names them: one, or several that hold a recording in
// parts.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace tapedeck::services {

// "HOST:PORT,HOST:PORT", in the order of the parts.
inline std::vector<std::string> StoragesOf(absl::string_view text) {
  return absl::StrSplit(text, ',');
}

}  // namespace tapedeck::services
