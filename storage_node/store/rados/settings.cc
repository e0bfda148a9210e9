#include "storage_node/store/rados/settings.h"

#include "absl/base/const_init.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/status_macros.h"
#include "services/base/command_line/units.h"

namespace tapedeck::storage_node::store::rados {
namespace {

// Renewed four times in it.
constexpr absl::Duration kShortestLease = absl::Seconds(5);
// Longer than any pause that is none of an end.
constexpr absl::Duration kLongestLease = absl::Minutes(10);

ABSL_CONST_INIT absl::Mutex cluster_mutex(absl::kConstInit);

ClusterSettings& ClusterOfProcess() {
  static auto* const settings = new ClusterSettings();
  return *settings;
}

absl::StatusOr<absl::Duration> ParseLease(const std::string& text) {
  TD_ASSIGN_OR_RETURN(const int64_t ns, services::command_line::ParseDurationNs(text));
  const absl::Duration lease = absl::Nanoseconds(ns);
  if (lease >= kShortestLease && lease <= kLongestLease) return lease;
  return absl::InvalidArgumentError(absl::StrCat(text, ": a lease is of 5s to 10m"));
}

}  // namespace

void AddOptions(const services::command_line::Command& node) {
  SetCluster({});
  ClusterSettings& cluster = ClusterOfProcess();
  node.AddOption("--ceph-conf", cluster.conf,
                 "ceph.conf of the Ceph cluster for LUNs of kind rados")
      .ShowDefault();
  node.AddOption("--ceph-user", cluster.user, "Ceph user of this node, without \"client.\"")
      .ShowDefault();
  node.AddParsed(
      "--lun-lease", cluster.lease, ParseLease,
      "Time that a vanished node keeps a LUN of kind rados from others, 5s to 10m; default 60s");
}

void SetCluster(const ClusterSettings& settings) {
  absl::MutexLock lock(&cluster_mutex);
  ClusterOfProcess() = settings;
}

ClusterSettings CurrentCluster() {
  absl::MutexLock lock(&cluster_mutex);
  return ClusterOfProcess();
}

}  // namespace tapedeck::storage_node::store::rados
