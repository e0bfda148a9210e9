#include "services/model/words/short_name.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "dataplane/status_macros.h"
#include "services/model/words/resource_name.h"

namespace tapedeck::services::model {

// `text` is a full name already if it starts with the first collection.
absl::StatusOr<std::string> ExpandName(const std::string& text,
                                       const std::vector<absl::string_view>& collections) {
  std::string name = text;
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  if (parts.size() == collections.size()) {
    name.clear();
    for (size_t i = 0; i < parts.size(); ++i) {
      absl::StrAppend(&name, i == 0 ? "" : "/", collections[i], "/", parts[i]);
    }
  }
  TD_RETURN_IF_ERROR(ParseName(name, collections).status());
  return name;
}

}  // namespace tapedeck::services::model
