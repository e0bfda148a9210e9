// A real Ceph cluster for tests, where TAPEDECK_CEPH_CONF names its ceph.conf, as
// tests/lab/rados.sh starts one.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "storage_node/store/rados/settings.h"

namespace tapedeck::storage_node {

inline constexpr char kNoCephCluster[] =
    "no Ceph cluster: TAPEDECK_CEPH_CONF names none; tests/lab/rados.sh starts one";

// Whether there is one; then it is the process's.
inline bool UseCephCluster() {
  const char* const conf = std::getenv("TAPEDECK_CEPH_CONF");
  if (conf == nullptr || *conf == '\0') return false;
  store::rados::SetCluster({.conf = conf});
  return true;
}

// In the pool of that cluster, a namespace that nobody has used; with payload in its erasure-coded
// pool where that is asked for.
inline std::string MakeCephMember(const std::string& name, bool erasure_coded = false) {
  static std::atomic<int> made = 0;
  return absl::StrCat("rados:tape", erasure_coded ? "+bulk/" : "/", name, "-", getpid(), "-",
                      time(nullptr), "-", ++made);
}

}  // namespace tapedeck::storage_node
