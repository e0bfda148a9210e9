#include "storage_node/store/rados/settings.h"

#include "absl/base/const_init.h"
#include "absl/synchronization/mutex.h"

namespace tapedeck::storage_node::store::rados {
namespace {

ABSL_CONST_INIT absl::Mutex cluster_mutex(absl::kConstInit);

ClusterSettings& ClusterOfProcess() {
  static auto* const settings = new ClusterSettings();
  return *settings;
}

}  // namespace

void SetCluster(const ClusterSettings& settings) {
  absl::MutexLock lock(&cluster_mutex);
  ClusterOfProcess() = settings;
}

ClusterSettings CurrentCluster() {
  absl::MutexLock lock(&cluster_mutex);
  return ClusterOfProcess();
}

}  // namespace tapedeck::storage_node::store::rados
