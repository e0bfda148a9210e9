#include "dataplane/topology/interfaces.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace tapedeck::dataplane::topology {
namespace {

TEST(InterfaceOf, WholeLoopbackNetworkIsLo) {
  EXPECT_EQ(InterfaceOf("127.0.0.1"), "lo");
  EXPECT_EQ(InterfaceOf("127.0.0.2"), "lo");
}

TEST(InterfaceOf, EmptyForWhatIsNotHere) {
  EXPECT_EQ(InterfaceOf("192.0.2.199"), "");
  EXPECT_EQ(InterfaceOf("2001:db8::1"), "");
  EXPECT_EQ(InterfaceOf("process"), "");
  EXPECT_EQ(InterfaceOf(""), "");
}

TEST(InterfaceBelow, IsTheOneOfAVlanAndNoneOfABond) {
  const std::string sysfs = testing::TempDir() + "/tapedeck_net." + std::to_string(getpid());
  for (const char* path :
       {"eth0.100/lower_eth0", "bond0/lower_eth0", "bond0/lower_eth1", "eth0/queues"}) {
    std::filesystem::create_directories(sysfs + "/" + path);
  }
  EXPECT_EQ(InterfaceBelow("eth0.100", sysfs), "eth0");
  EXPECT_EQ(InterfaceBelow("bond0", sysfs), "");
  EXPECT_EQ(InterfaceBelow("eth0", sysfs), "");
  EXPECT_EQ(InterfaceBelow("none", sysfs), "");
  std::filesystem::remove_all(sysfs);
}

}  // namespace
}  // namespace tapedeck::dataplane::topology
