#include "services/daemon/placement.h"

#include <gtest/gtest.h>

#include "tests/dataplane/topology/machines.h"

namespace tapedeck::services {
namespace {

using dataplane::topology::Distance;

TEST(PlaceRail, AnRdmaPortIsWhereItsDeviceIs) {
  TAPEDECK_MACHINE_OR_SKIP(machine, dataplane::topology::TwoGpusFourPorts());
  // The address is that of an interface without a place.
  const NodeRail rail = PlaceRail(machine, {.address = "127.0.0.1", .device = "mlx5_2/1"});
  EXPECT_EQ(rail.rail.device, "mlx5_2/1");
  EXPECT_EQ(rail.place.pci_address, "0000:9b:00.0");
  EXPECT_EQ(rail.place.numa_node, 1);
}

TEST(PlaceRail, OtherRailsAreWhereTheirInterfaceIs) {
  const dataplane::topology::Topology machine({{.names = {"lo"}, .place = {"0000:01:00.0", 0}}},
                                              {{.index = 0}});
  for (const char* device : {"", "rxe0/1"}) {
    const NodeRail rail = PlaceRail(machine, {.address = "127.0.0.2", .device = device});
    EXPECT_EQ(rail.rail.device, *device == '\0' ? "lo" : device);
    EXPECT_EQ(rail.place.pci_address, "0000:01:00.0");
  }
  EXPECT_EQ(PlaceRail(machine, {.address = "process"}).place.pci_address, "");
}

TEST(Placement, TellsEachMemoryItsDistanceToEveryRail) {
  TAPEDECK_MACHINE_OR_SKIP(machine, dataplane::topology::TwoGpusFourPorts());
  const Placement placement(machine, {PlaceRail(machine, {.name = "r0", .device = "ens11"}),
                                      PlaceRail(machine, {.name = "r1", .device = "lo"})});
  const MemoryKindInfo gpu = placement.GpuMemory({.device = "cuda:0"}, "00000000:18:00.0");
  EXPECT_EQ(gpu.device, "cuda:0");
  EXPECT_EQ(gpu.place.pci_address, "0000:18:00.0");
  ASSERT_EQ(gpu.distances.size(), 2u);
  EXPECT_EQ(gpu.distances[0].rail, "r0");
  EXPECT_EQ(gpu.distances[0].distance, Distance::kNode);
  EXPECT_EQ(gpu.distances[1].distance, Distance::kUnknown);
  const MemoryKindInfo host = placement.HostMemory();
  EXPECT_EQ(host.device, "host");
  EXPECT_GT(host.bytes, 0u);
  EXPECT_EQ(host.distances[0].distance, Distance::kUnknown);
}

}  // namespace
}  // namespace tapedeck::services
