#include "dataplane/topology/topology.h"

namespace tapedeck::dataplane::topology {
namespace {

absl::Status Absent() {
  return absl::UnimplementedError(
      "built without hwloc: install libhwloc-dev and build with -DTAPEDECK_HWLOC=ON");
}

}  // namespace

absl::StatusOr<Topology> Topology::Discover() { return Absent(); }

absl::StatusOr<Topology> Topology::FromXml(const std::string& /*path*/) { return Absent(); }

}  // namespace tapedeck::dataplane::topology
