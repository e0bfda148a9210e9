// Which Ceph cluster the LUNs of kind rados lie on: one for the process, as its command line says.
#pragma once

#include <string>

namespace tapedeck::storage_node::store::rados {

struct ClusterSettings {
  std::string conf = "/etc/ceph/ceph.conf";  // where its monitors are
  std::string user = "admin";                // of client.USER, whose keyring ceph.conf names
};

// Before the first LUN is made or opened. The list of kinds is built anew by whoever needs it, so
// that what a kind is told once has its place beside it. Any thread.
void SetCluster(const ClusterSettings& settings);
ClusterSettings CurrentCluster();

}  // namespace tapedeck::storage_node::store::rados
