// Descriptions of machines to test with. A build without hwloc cannot read them: those tests skip.
#pragma once

#include <string>

#include "dataplane/topology/topology.h"
#include "tests/shared_data.h"

namespace tapedeck::dataplane::topology {

// Two sockets, and on each a GPU, a 25GbE port below the same PCI switch as the GPU, and one apart:
//   node 0, CPUs 0 2 4 6: GPU 18:00.0 and ens10 (mlx5_0) below one switch; ens11 (mlx5_1) below
//   another root port of the same host bridge. Node 1, CPUs 1 3 5 7: GPU 9a:00.0 and ens20 (mlx5_2)
//   below one switch; ens21 (mlx5_3) below a host bridge of its own.
inline std::string TwoGpusFourPorts() {
  return TreeFile("tests/dataplane/topology/two_gpus_four_ports.xml");
}

}  // namespace tapedeck::dataplane::topology

// Declares `machine`, read from the file at `path`.
#define TAPEDECK_MACHINE_OR_SKIP(machine, path)                                            \
  const auto machine##_or = tapedeck::dataplane::topology::Topology::FromXml(path);        \
  if (absl::IsUnimplemented(machine##_or.status())) GTEST_SKIP() << machine##_or.status(); \
  ASSERT_TRUE(machine##_or.ok()) << machine##_or.status();                                 \
  const tapedeck::dataplane::topology::Topology& machine = *machine##_or
