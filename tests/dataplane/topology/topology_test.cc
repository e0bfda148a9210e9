#include "dataplane/topology/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/dataplane/topology/machines.h"
#include "tests/shared_data.h"

namespace tapedeck::dataplane::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// By names or PCI addresses.
Distance Between(const Topology& machine, const std::string& a, const std::string& b) {
  const Device* device_a = machine.Find(a);
  const Device* device_b = machine.Find(b);
  EXPECT_NE(device_a, nullptr) << a;
  EXPECT_NE(device_b, nullptr) << b;
  if (device_a == nullptr || device_b == nullptr) return Distance::kUnknown;
  const Distance there = machine.Between(device_a->place, device_b->place);
  EXPECT_EQ(there, machine.Between(device_b->place, device_a->place)) << a << " " << b;
  return there;
}

// What a job on the GPU would use, of the ports in this order.
std::vector<std::string> NearestPorts(const Topology& machine, const std::string& gpu,
                                      const std::vector<std::string>& ports) {
  std::vector<RailDistance> distances;
  distances.reserve(ports.size());
  for (const std::string& port : ports) distances.push_back({port, Between(machine, gpu, port)});
  return ChooseRails(distances);
}

TEST(TwoGpusFourPorts, DevicesHaveTheirPlaces) {
  TAPEDECK_MACHINE_OR_SKIP(machine, TwoGpusFourPorts());
  ASSERT_EQ(machine.devices().size(), 6u);
  const Device& port = *machine.Find("mlx5_0");
  EXPECT_EQ(port.kind, DeviceKind::kRdma);
  EXPECT_THAT(port.names, ElementsAre("ens10", "mlx5_0"));
  EXPECT_EQ(port.place.pci_address, "0000:19:00.0");
  EXPECT_EQ(port.place.numa_node, 0);
  EXPECT_THAT(port.bridges,
              ElementsAre("host 0000:15", "0000:15:01.0", "0000:16:00.0", "0000:17:01.0"));
  EXPECT_EQ(port.pci_bytes_per_s / 1'000'000, 7'876u);
  const Device& gpu = *machine.Find("0000:9a:00.0");
  EXPECT_EQ(gpu.kind, DeviceKind::kGpu);
  EXPECT_EQ(gpu.place.numa_node, 1);
  ASSERT_EQ(machine.nodes().size(), 2u);
  EXPECT_EQ(machine.nodes()[1].index, 1);
  EXPECT_THAT(machine.nodes()[1].cpus, ElementsAre(1, 3, 5, 7));
}

TEST(TwoGpusFourPorts, DistancesFromEachGpu) {
  TAPEDECK_MACHINE_OR_SKIP(machine, TwoGpusFourPorts());
  EXPECT_EQ(Between(machine, "18:00.0", "ens10"), Distance::kSwitch);
  EXPECT_EQ(Between(machine, "18:00.0", "ens11"), Distance::kNode);  // one host bridge
  EXPECT_EQ(Between(machine, "18:00.0", "ens20"), Distance::kSystem);
  EXPECT_EQ(Between(machine, "18:00.0", "ens21"), Distance::kSystem);
  EXPECT_EQ(Between(machine, "9a:00.0", "ens20"), Distance::kSwitch);
  EXPECT_EQ(Between(machine, "9a:00.0", "ens21"), Distance::kNode);  // two host bridges, one node
  EXPECT_EQ(Between(machine, "9a:00.0", "18:00.0"), Distance::kSystem);
  EXPECT_EQ(Between(machine, "ens10", "ens10"), Distance::kSwitch);
}

TEST(TwoGpusFourPorts, EachGpuChoosesItsNearestPorts) {
  TAPEDECK_MACHINE_OR_SKIP(machine, TwoGpusFourPorts());
  const std::vector<std::string> all = {"ens10", "ens11", "ens20", "ens21"};
  EXPECT_THAT(NearestPorts(machine, "18:00.0", all), ElementsAre("ens10"));
  EXPECT_THAT(NearestPorts(machine, "9a:00.0", all), ElementsAre("ens20"));
  // Without the port at its switch, those of its socket; without these, the other socket's.
  EXPECT_THAT(NearestPorts(machine, "9a:00.0", {"ens10", "ens11", "ens21"}), ElementsAre("ens21"));
  EXPECT_THAT(NearestPorts(machine, "9a:00.0", {"ens10", "ens11"}), ElementsAre("ens10", "ens11"));
}

TEST(TwoGpusFourPorts, HostMemoryOfTwoNodesHasNoPlace) {
  TAPEDECK_MACHINE_OR_SKIP(machine, TwoGpusFourPorts());
  EXPECT_EQ(machine.HostMemory().numa_node, std::nullopt);
  EXPECT_EQ(machine.Between(machine.HostMemory(), machine.Find("ens10")->place),
            Distance::kUnknown);
  EXPECT_EQ(machine.Between({.numa_node = 1}, machine.Find("ens20")->place), Distance::kNode);
  EXPECT_EQ(machine.Between({.numa_node = 1}, machine.Find("ens10")->place), Distance::kSystem);
}

TEST(RealServers, ConanHasAPortBesideItsGpu) {
  TAPEDECK_SHARED_OR_SKIP(path, "topology/32em64t-2n8c2t-pci-normalio.xml");
  TAPEDECK_MACHINE_OR_SKIP(machine, path);
  EXPECT_EQ(machine.Find("mlx5_0"), machine.Find("ib0"));
  EXPECT_EQ(machine.Find("mlx5_0")->kind, DeviceKind::kRdma);
  EXPECT_EQ(machine.Find("eth0")->kind, DeviceKind::kNetwork);
  EXPECT_EQ(machine.Find("cuda0")->kind, DeviceKind::kGpu);
  EXPECT_EQ(machine.Find("eth0")->place.numa_node, 1);
  EXPECT_EQ(Between(machine, "cuda0", "mlx5_0"), Distance::kSwitch);  // below one root port
  EXPECT_EQ(Between(machine, "cuda0", "eth0"), Distance::kNode);
  EXPECT_EQ(Between(machine, "eth0", "eth1"), Distance::kSwitch);       // two functions of one card
  EXPECT_EQ(Between(machine, "03:00.0", "mlx5_0"), Distance::kSystem);  // a GPU of the other socket
  EXPECT_THAT(NearestPorts(machine, "cuda0", {"eth0", "eth1", "ib0"}), ElementsAre("ib0"));
  EXPECT_THAT(NearestPorts(machine, "03:00.0", {"eth0", "eth1", "ib0"}),
              ElementsAre("eth0", "eth1", "ib0"));
}

TEST(RealServers, Power8HasTwoGpusOnEachSocket) {
  TAPEDECK_SHARED_OR_SKIP(path, "topology/power8gpudistances.xml");
  TAPEDECK_MACHINE_OR_SKIP(machine, path);
  ASSERT_EQ(machine.nodes().size(), 2u);
  EXPECT_THAT(machine.nodes()[0].cpus, ElementsAre(0, 1, 8, 9, 16, 17, 24, 25));
  EXPECT_EQ(machine.Find("cuda2")->place.pci_address, "000a:01:00.0");
  EXPECT_EQ(machine.Find("cuda2")->place.numa_node, 1);
  EXPECT_EQ(Between(machine, "cuda0", "cuda1"), Distance::kNode);  // each has its own host bridge
  EXPECT_EQ(Between(machine, "cuda0", "cuda2"), Distance::kSystem);
  EXPECT_EQ(Between(machine, "cuda2", "cuda3"), Distance::kNode);
}

TEST(Topology, OfNothingKnowsNoDistance) {
  const Topology nothing;
  EXPECT_EQ(nothing.Find("eth0"), nullptr);
  EXPECT_EQ(nothing.HostMemory().numa_node, std::nullopt);
  EXPECT_EQ(nothing.Between({.pci_address = "0000:01:00.0"}, {.pci_address = "0000:01:00.0"}),
            Distance::kUnknown);
}

TEST(Topology, OneNodeIsThePlaceOfItsMemory) {
  const Topology machine({{.names = {"eth0"}, .place = {"0000:01:00.0", 3}}}, {{.index = 3}});
  EXPECT_EQ(machine.HostMemory().numa_node, 3);
  EXPECT_EQ(machine.Between(machine.HostMemory(), machine.Find("eth0")->place), Distance::kNode);
  EXPECT_EQ(machine.Between(machine.HostMemory(), {}), Distance::kUnknown);
}

TEST(Topology, ASharedBridgeCountsWhereTheNodeIsNotKnown) {
  const Topology machine({{.names = {"a"}, .place = {"0000:01:00.0"}, .bridges = {"host 0000:00"}},
                          {.names = {"b"}, .place = {"0000:02:00.0"}, .bridges = {"host 0000:00"}},
                          {.names = {"c"}, .place = {"0000:81:00.0"}, .bridges = {"host 0000:80"}}},
                         {{.index = 0}, {.index = 1}});
  EXPECT_EQ(Between(machine, "a", "b"), Distance::kNode);
  EXPECT_EQ(Between(machine, "a", "c"), Distance::kUnknown);
}

TEST(Topology, FilesThatAreNoDescriptionAreRefusedByName) {
  const std::string path = testing::TempDir() + "/tapedeck_no_description.xml";
  std::ofstream(path) << "<html></html>\n";
  for (const std::string& file : {path, std::string("/nowhere/machine.xml")}) {
    const absl::Status status = Topology::FromXml(file).status();
    if (absl::IsUnimplemented(status)) GTEST_SKIP() << status;
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(file));
  }
}

TEST(Topology, FindsThisMachine) {
  const auto machine = Topology::Discover();
  if (absl::IsUnimplemented(machine.status())) GTEST_SKIP() << machine.status();
  ASSERT_TRUE(machine.ok()) << machine.status();
  ASSERT_FALSE(machine->nodes().empty());
  EXPECT_FALSE(machine->nodes().front().cpus.empty());
  EXPECT_EQ(machine->Find("lo"), nullptr);
}

TEST(PciAddress, AnySpellingBecomesOne) {
  EXPECT_EQ(NormalPciAddress("0000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(NormalPciAddress("00000000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(NormalPciAddress("3b:00.1"), "0000:3b:00.1");
  EXPECT_EQ(NormalPciAddress("000a:01:00.0"), "000a:01:00.0");
  for (const char* text : {"", "eth0", "0000:3b:00", "0000:3b:00.0x", "beef", "3b:00.0 "}) {
    EXPECT_EQ(NormalPciAddress(text), "") << text;
  }
}

}  // namespace
}  // namespace tapedeck::dataplane::topology
