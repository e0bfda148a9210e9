// Which storage nodes jobs may name.
#include "gpu_worker/allowed_storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tapedeck::gpu_worker {
namespace {

TEST(AllowedStorageTest, OnlyWhatFitsIsTaken) {
  const auto allowed =
      AllowedStorage::Parse({"*.Lab.example:7400", "10.0.0.1:*", "[fd00::1]:7400"});
  ASSERT_TRUE(allowed.ok()) << allowed.status();
  for (const char* address :
       {"s0.lab.example:7400", "S0.a.LAB.example:7400", "10.0.0.1:9", "[fd00::1]:7400",
        "dns:///s0.lab.example:7400", "dns:s0.lab.example:7400", "ipv4:10.0.0.1:9",
        "ipv6:[fd00::1]:7400", "s0.lab.example:7400@[fd00::1]", "10.0.0.1:9@10.0.0.1"}) {
    EXPECT_TRUE(allowed->Check(address).ok()) << address;
  }
  for (const char* address : {"s0.lab.example:7401",
                              "lab.example:7400",
                              "s0.lab.example.evil:7400",
                              "10.0.0.10:9",
                              "10.0.0.1",
                              "[fd00::2]:7400",
                              "",
                              ":7400",
                              "unix:.lab.example:7400",
                              "dns://evil/s0.lab.example:7400",
                              "evil%2f.lab.example:7400",
                              "evil:1#.lab.example:7400",
                              "evil .lab.example:7400",
                              "dns:///evil:7400",
                              "dns:///s0.lab.example:7401",
                              "ipv4:10.0.0.2:9",
                              "ipv4:s0.lab.example:7400",
                              "unix:/s0.lab.example:7400",
                              "s0.lab.example:7400@10.0.0.2",
                              "s0.lab.example:7400@evil",
                              "evil:7400@[fd00::1]",
                              "s0.lab.example:7400@10.0.0.1@10.0.0.2"}) {
    EXPECT_EQ(allowed->Check(address).code(), absl::StatusCode::kPermissionDenied) << address;
  }
  EXPECT_TRUE(AllowedStorage().Check("anything").ok());
  EXPECT_TRUE(AllowedStorage::Parse({})->Check("anything").ok());
  EXPECT_FALSE(AllowedStorage::Parse({"no port"}).ok());
}

}  // namespace
}  // namespace tapedeck::gpu_worker
