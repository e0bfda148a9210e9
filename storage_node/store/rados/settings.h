// Which Ceph cluster the LUNs of kind rados lie on: one for the process, as its options say.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "services/base/command_line/command_line.h"

namespace tapedeck::storage_node::store::rados {

// Of what one node has of a LUN, until it renews it. An OSD that hangs holds up a renewal, for 30 s
// unless ceph.conf says less: a shorter lease may be lost with it.
inline constexpr absl::Duration kDefaultLease = absl::Seconds(60);

struct ClusterSettings {
  std::string conf = "/etc/ceph/ceph.conf";  // where its monitors are
  std::string user = "admin";                // of client.USER, whose keyring ceph.conf names
  absl::Duration lease = kDefaultLease;
};

// Before the first LUN is made or opened. The list of kinds is built anew by whoever needs it, so
// that what a kind is told once has its place beside it. Any thread.
void AddOptions(const services::command_line::Command& node);  // see StoreKind
void SetCluster(const ClusterSettings& settings);
ClusterSettings CurrentCluster();

}  // namespace tapedeck::storage_node::store::rados
