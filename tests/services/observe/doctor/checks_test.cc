// The checks of a machine, over files that stand for the system's.
#include "services/observe/doctor/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/services/observe/doctor/fake_machine.h"

namespace tapedeck::services::doctor {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

auto IsFinding(const std::string& code, const std::string& what) {
  return AllOf(Field(&Finding::code, code), Field(&Finding::what, HasSubstr(what)));
}

TEST(DoctorPortsTest, PortsThatAreUpAreNoFinding) {
  FakeMachine machine;
  machine.AddTcpRail("r0", "10.9.0.1", "9000");
  machine.AddRoceRail("r1", "4200");
  machine.Write("/sys/class/net/r0if/operstate", "unknown");  // as of a loopback
  EXPECT_THAT(machine.Look(CheckPorts), IsEmpty());
}

TEST(DoctorPortsTest, Down) {
  FakeMachine machine;
  machine.AddTcpRail("r0", "10.9.0.1", "9000");
  machine.AddRoceRail("r1", "4200");
  machine.Write("/sys/class/net/r0if/operstate", "lowerlayerdown");
  machine.Write("/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN");
  EXPECT_THAT(machine.Look(CheckPorts), ElementsAre(IsFinding("PORT_DOWN", "lowerlayerdown"),
                                                    IsFinding("PORT_DOWN", "1: DOWN")));
}

TEST(DoctorPortsTest, AddressThatNoInterfaceHas) {
  FakeMachine machine;
  machine.AddTcpRail("r0", "10.9.0.1", "9000");
  machine.MoveAddress("10.9.0.1");
  EXPECT_THAT(machine.Look(CheckPorts), ElementsAre(IsFinding("ADDRESS_NOT_HERE", "10.9.0.1")));
}

TEST(DoctorPortsTest, RdmaDeviceThatIsGone) {
  FakeMachine machine;
  machine.scene().rails.push_back(
      {.rail = {.name = "r0", .transport = "verbs", .address = "10.0.0.1", .device = "mlx5_9/1"}});
  EXPECT_THAT(machine.Look(CheckPorts), ElementsAre(IsFinding("DEVICE_GONE", "mlx5_9")));
}

TEST(DoctorPortsTest, GidOfAnotherAddressOrType) {
  FakeMachine machine;
  machine.AddRoceRail("r0", "4200");
  machine.Write("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/1", "IB/RoCE v1");
  EXPECT_THAT(machine.Look(CheckPorts), ElementsAre(IsFinding("NO_ROCE_V2_GID", "10.0.0.1")));
}

TEST(DoctorMtusTest, WhatALargerMtuWouldGive) {
  FakeMachine machine;
  machine.AddRoceRail("r0", "1500");
  EXPECT_THAT(
      machine.Look(CheckMtus),
      ElementsAre(IsFinding("PATH_MTU_SMALL",
                            "ens1 has MTU 1500, so the path MTU is 1024, not 4096; 5.6 % of the "
                            "wire is lost by that: 2893 MB/s at most, 3064 with the best")));
}

TEST(DoctorMtusTest, OfTcpRails) {
  FakeMachine machine;
  machine.AddTcpRail("r0", "10.9.0.1", "1500");
  machine.AddTcpRail("r1", "10.9.1.1", "9000");
  machine.AddTcpRail("lo", "127.0.0.1", "65536");
  EXPECT_THAT(machine.Look(CheckMtus),
              ElementsAre(IsFinding("PATH_MTU_SMALL", "2942 MB/s at most, 3094 with the best")));
}

TEST(DoctorMtusTest, OfAnInterfaceWithoutASpeed) {
  FakeMachine machine;
  machine.AddTcpRail("r0", "10.9.0.1", "1500");
  machine.Write("/sys/class/net/r0if/speed", "-1");
  const Findings findings = machine.Look(CheckMtus);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].what, Not(HasSubstr("MB/s")));
}

TEST(DoctorTemperaturesTest, HotCard) {
  FakeMachine machine;
  machine.AddTcpRail("r0", "10.9.0.1", "9000");
  machine.Write("/sys/class/net/r0if/device/hwmon/hwmon3/temp1_input", "89000");
  EXPECT_THAT(machine.Look(CheckTemperatures), IsEmpty());
  machine.Write("/sys/class/net/r0if/device/hwmon/hwmon3/temp1_input", "101000");
  EXPECT_THAT(machine.Look(CheckTemperatures), ElementsAre(IsFinding("NIC_HOT", "101 °C")));
}

TEST(DoctorMemoryTest, MoreIsPromisedThanThereIs) {
  FakeMachine machine;
  machine.scene().ring_bytes = 64 << 20;
  machine.scene().promised = {{.what = "--follow-memory", .bytes = 1 << 30}};
  machine.Write("/proc/meminfo", "MemAvailable: 4000000 kB");
  EXPECT_THAT(machine.Look(CheckMemory), IsEmpty());
  machine.Write("/proc/meminfo", "MemAvailable: 1000000 kB");
  EXPECT_THAT(machine.Look(CheckMemory),
              ElementsAre(IsFinding("MEMORY_SHORT", "--follow-memory 1024 MiB")));
}

TEST(DoctorHugePagesTest, Never) {
  FakeMachine machine;
  const std::string path = "/sys/kernel/mm/transparent_hugepage/enabled";
  machine.Write(path, "always [madvise] never");
  EXPECT_THAT(machine.Look(CheckHugePages), IsEmpty());
  machine.Write(path, "always madvise [never]");
  EXPECT_THAT(machine.Look(CheckHugePages), ElementsAre(IsFinding("HUGE_PAGES_OFF", "never")));
  EXPECT_EQ(machine.Look(CheckHugePages)[0].severity, Severity::kNote);
}

TEST(DoctorCrcTest, Processors) {
  FakeMachine machine;
  machine.Write("/proc/cpuinfo", "processor : 0\nflags\t\t: fpu pclmulqdq ssse3 sse4_1 sse4_2");
  EXPECT_THAT(machine.Look(CheckCrc), IsEmpty());
  machine.Write("/proc/cpuinfo", "processor : 0\nflags\t\t: fpu ssse3 sse4_1");
  EXPECT_THAT(machine.Look(CheckCrc), ElementsAre(IsFinding("CRC_IN_SOFTWARE", "sse4_2")));
  machine.Write("/proc/cpuinfo", "processor : 0\nFeatures\t: fp asimd crc32");
  EXPECT_THAT(machine.Look(CheckCrc), IsEmpty());
  machine.Write("/proc/cpuinfo", "processor : 0\nFeatures\t: fp asimd");
  EXPECT_THAT(machine.Look(CheckCrc), ElementsAre(IsFinding("CRC_IN_SOFTWARE", "crc32")));
}

// Real connections, over the loopback.
TEST(DoctorPeersTest, ConnectsToThePeersRails) {
  FakeMachine machine;
  machine.AddTcpRail("r0", "127.0.0.1", "65536");
  Request request{.peers = {{.name = "r0", .transport = "tcp", .address = "127.0.0.1", .port = 1},
                            {.name = "r9", .transport = "tcp", .address = "127.0.0.1", .port = 1},
                            {.name = "r0", .transport = "verbs", .address = "127.0.0.1"}}};
  Findings findings;
  CheckPeers(machine.scene(), request, findings);
  EXPECT_THAT(findings,
              ElementsAre(IsFinding("RAIL_UNREACHABLE", "127.0.0.1:1 is not reached from")));
  EXPECT_THAT(findings[0].fix, HasSubstr("ping -I 127.0.0.1 127.0.0.1"));
}

}  // namespace
}  // namespace tapedeck::services::doctor
