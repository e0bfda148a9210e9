#include "storage_node/catalog/summaries.h"

#include <functional>

#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::catalog {

Summary Summary::Of(const ResourceName& name, const format::Manifest& manifest) {
  return {.name = name,
          .state = manifest.state,
          .kept = manifest.kept,
          .stream = manifest.stream,
          .segment = manifest.segment,
          .end_time_ns = manifest.end_time_ns};
}

absl::StatusOr<SharedSummary> Summaries::Of(const ResourceName& name, const std::string& document) {
  const size_t hash = std::hash<std::string>()(document);
  {
    absl::MutexLock lock(&mutex_);
    const auto it = known_.find(name);
    if (it != known_.end() && it->second.hash == hash) return it->second.summary;
  }
  TD_ASSIGN_OR_RETURN(const format::Manifest manifest, format::DecodeManifest(document));
  const auto summary = std::make_shared<const Summary>(Summary::Of(name, manifest));
  absl::MutexLock lock(&mutex_);
  if (known_.size() < kMost || known_.contains(name)) {
    known_[name] = {.hash = hash, .summary = summary};
  }
  return summary;
}

void Summaries::Forget(const ResourceName& name) {
  absl::MutexLock lock(&mutex_);
  known_.erase(name);
}

}  // namespace tapedeck::storage_node::catalog
