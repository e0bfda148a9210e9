#include "services/rpc/identity/methods.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tapedeck::services::identity {

const Right* FindRight(absl::string_view method) {
  const auto* found = std::ranges::find(kRights, method, &Right::method);
  return found == kRights.end() ? nullptr : found;
}

const Right* FindRight(absl::string_view service, absl::string_view name) {
  return FindRight(absl::StrCat(service, "/", name));
}

}  // namespace tapedeck::services::identity
