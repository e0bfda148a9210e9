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

TEST(AddressOf, AnInterfaceHasOneOfItsOwn) {
  EXPECT_EQ(AddressOf("lo"), "127.0.0.1");
  for (const std::string& name : InterfacesWithAddresses()) {
    EXPECT_EQ(InterfaceOf(AddressOf(name)), name);
  }
}

TEST(AddressOf, EmptyForWhatIsNotHere) {
  EXPECT_EQ(AddressOf("nowhere"), "");
  EXPECT_EQ(AddressOf(""), "");
}

TEST(PrefixBitsOf, OfAnAddressThatIsHereAlone) {
  EXPECT_EQ(PrefixBitsOf("127.0.0.2"), 8);
  EXPECT_EQ(PrefixBitsOf("192.0.2.199"), 0);
  EXPECT_EQ(PrefixBitsOf(""), 0);
}

TEST(SameNetwork, ComparesThatPartAlone) {
  EXPECT_TRUE(SameNetwork("10.0.0.1", "10.0.0.254", 24));
  EXPECT_FALSE(SameNetwork("10.0.0.1", "10.0.1.1", 24));
  EXPECT_TRUE(SameNetwork("10.0.0.1", "10.0.1.1", 23));
  EXPECT_TRUE(SameNetwork("10.0.0.1", "10.0.0.1", 32));
  EXPECT_FALSE(SameNetwork("10.0.0.1", "10.0.0.2", 32));
  EXPECT_TRUE(SameNetwork("fd00::1", "fd00::2", 64));
  EXPECT_FALSE(SameNetwork("fd00::1", "10.0.0.1", 0));
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
