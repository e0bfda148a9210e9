// Requests that are made once, however often they are sent.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/catalog/catalog.h"

namespace tapedeck::storage_node::catalog {

// AIP-155: a request_id that was used before has the result of that time. Runs `make`, which
// returns what `get` would, unless the id is known.
template <typename T>
absl::StatusOr<T> Once(Catalog& catalog, const std::string& request_id, const std::string& kind,
                       const std::string& name, const std::function<absl::StatusOr<T>()>& get,
                       const std::function<absl::StatusOr<T>()>& make) {
  if (request_id.empty()) return make();
  auto past = catalog.FindRequest(request_id);
  if (!past.ok()) return past.status();
  if (past->has_value()) {
    if ((*past)->kind == kind && (*past)->name == name) return get();
    return services::ArgumentInvalid(
        "request_id", absl::StrCat("request_id ", request_id, " was used for ", (*past)->kind, " ",
                                   (*past)->name, "; use a new one"));
  }
  TD_RETURN_IF_ERROR(catalog.CheckTakes());
  absl::StatusOr<T> result = make();
  if (!result.ok()) return result;
  catalog.RememberRequest(request_id, {.kind = kind, .name = name});
  return result;
}

}  // namespace tapedeck::storage_node::catalog
