#include "gpu_worker/allowed_storage.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/addresses/node_name.h"
#include "services/base/errors.h"

namespace tapedeck::gpu_worker {

using services::identity::AddressPatterns;

namespace {

constexpr char kOption[] = "--storage-allow";

}  // namespace

absl::StatusOr<AllowedStorage> AllowedStorage::Parse(const std::vector<std::string>& patterns) {
  AllowedStorage allowed;
  if (patterns.empty()) return allowed;
  TD_ASSIGN_OR_RETURN(allowed.patterns_, AddressPatterns::Parse(kOption, patterns));
  return allowed;
}

absl::Status AllowedStorage::Check(const std::string& address) const {
  if (any()) return absl::OkStatus();
  const absl::StatusOr<services::naming::NodeName> name = services::naming::ParseNodeName(address);
  if (name.ok() && patterns_.Fit(name->authority()) && patterns_.Fit(name->target())) {
    return absl::OkStatus();
  }
  return services::WithReason(
      absl::PermissionDeniedError(absl::StrCat(
          "storage node ", address, ": this worker may only call ", Described().substr(0, 1000),
          "; name one of these, or start the worker with ", kOption,
          " HOST:PORT of this one, too")),
      "STORAGE_NOT_ALLOWED", {{"storage", address}, {"option", kOption}});
}

}  // namespace tapedeck::gpu_worker
