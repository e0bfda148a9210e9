// The result of --check-config.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "services/base/faults.h"

namespace tapedeck::services::config {

struct Looked {
  Faults faults;                     // a start ends with them
  Faults warnings;                   // a start goes on without what they name
  std::vector<std::string> checked;  // "2 rails"

  void AddChecked(size_t count, absl::string_view noun) {
    if (count > 0) checked.push_back(absl::StrCat(count, " ", noun, count == 1 ? "" : "s"));
  }
};

}  // namespace tapedeck::services::config
