// The options of the kind, as a storage node gets them from the list of kinds.
#include "storage_node/store/rados/settings.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "storage_node/store/list.h"

namespace tapedeck::storage_node::store::rados {
namespace {

class RadosOptions : public testing::Test {
 protected:
  ~RadosOptions() override { SetCluster(before_); }

  // None: the line is right.
  static std::optional<int> Parse(std::vector<std::string> words) {
    services::command_line::CommandLine line({.name = "node", .purpose = "", .version = ""});
    store::AddOptions(line.program());
    words.insert(words.begin(), "node");
    return line.Parse(words);
  }

 private:
  const ClusterSettings before_ = CurrentCluster();
};

TEST_F(RadosOptions, TheLineSaysWhichClusterItIs) {
  EXPECT_EQ(Parse({"--ceph-conf", "/x/ceph.conf", "--ceph-user", "tape", "--lun-lease", "5s"}),
            std::nullopt);
  EXPECT_EQ(CurrentCluster().conf, "/x/ceph.conf");
  EXPECT_EQ(CurrentCluster().user, "tape");
  EXPECT_EQ(CurrentCluster().lease, absl::Seconds(5));
}

TEST_F(RadosOptions, AnotherLineBeginsWithTheDefaults) {
  SetCluster({.conf = "/x/ceph.conf", .user = "tape", .lease = absl::Seconds(5)});
  EXPECT_EQ(Parse({}), std::nullopt);
  EXPECT_EQ(CurrentCluster().conf, "/etc/ceph/ceph.conf");
  EXPECT_EQ(CurrentCluster().user, "admin");
  EXPECT_EQ(CurrentCluster().lease, kDefaultLease);
}

TEST_F(RadosOptions, ALeaseHasItsLimits) {
  for (const char* wrong : {"4999ms", "11m", "soon"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(Parse({"--lun-lease", wrong}), 2) << wrong;
    testing::internal::GetCapturedStderr();
  }
  EXPECT_EQ(Parse({"--lun-lease", "10m"}), std::nullopt);
}

}  // namespace
}  // namespace tapedeck::storage_node::store::rados
