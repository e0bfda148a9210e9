// The channels of a LUN that is open, and what is known of them when it is not.
#include "storage_node/luns/channels.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "storage_node/format/config.h"
#include "storage_node/opening/reconcile.h"
#include "tests/storage_node/node_contents.h"
#include "tests/storage_node/opening/vanishing_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::ChannelUpdate;

services::Channel ChannelOf(const std::string& id) {
  return {.name = "luns/l/channels/" + id,
          .block_bytes = kBlockBytes,
          .datatype = "cf32_le",
          .sample_rate = 1e6};
}

ChannelUpdate NewRate(const std::string& id, double rate) {
  ChannelUpdate update = ChannelUpdate().Set(&services::Channel::sample_rate, rate);
  update.name = ChannelOf(id).name;
  return update;
}

// Whoever opens the LUN has read its channels, and would not have the change.
TEST(Channels, AreNotChangedWhileTheirLunIsOpened) {
  const TempDir dir;
  const auto contents = MakeNodeContents(dir.path());
  node::LunService lun_calls(contents->recordings);
  node::ChannelService channels(contents->recordings);
  const auto lun =
      lun_calls.CreateLun({.name = "luns/l", .store = "posix", .members = {dir.Make("m")}}, "");
  ASSERT_TRUE(lun.ok()) << lun.status();
  ASSERT_TRUE(channels.CreateChannel(ChannelOf("c"), "").ok());
  {
    const auto opening = opening::TakeOpening(contents->recordings, "luns/l");
    ASSERT_TRUE(opening);
    EXPECT_EQ(Reason(channels.CreateChannel(ChannelOf("d"), "").status()), "CHANNEL_IN_USE");
    EXPECT_EQ(Reason(channels.UpdateChannel(NewRate("c", 5), "").status()), "CHANNEL_IN_USE");
    EXPECT_EQ(Reason(channels.DeleteChannel(ChannelOf("c").name)), "CHANNEL_IN_USE");
  }
  {
    const auto one = opening::TakeNoOpening(contents->recordings, "luns/l");
    EXPECT_NE(opening::TakeNoOpening(contents->recordings, "luns/l"), nullptr) << "beside another";
    EXPECT_FALSE(opening::TakeOpening(contents->recordings, "luns/l"));
  }
  EXPECT_TRUE(channels.CreateChannel(ChannelOf("d"), "").ok());
  EXPECT_EQ(channels.UpdateChannel(NewRate("c", 5), "")->sample_rate, 5);
  EXPECT_TRUE(channels.DeleteChannel(ChannelOf("c").name).ok());
  EXPECT_EQ(channels.ListChannels("luns/-")->size(), 1u);
}

// The row may be behind, e.g. where a change could not be put into the catalog.
TEST(Channels, OfAnOpenLunAreNotThoseOfTheCatalog) {
  const TempDir dir;
  const auto contents = MakeNodeContents(dir.path());
  node::LunService lun_calls(contents->recordings);
  node::ChannelService channels(contents->recordings);
  ASSERT_TRUE(
      lun_calls.CreateLun({.name = "luns/l", .store = "posix", .members = {dir.Make("m")}}, "")
          .ok());
  ASSERT_TRUE(channels.CreateChannel(ChannelOf("c"), "").ok());
  const catalog::ResourceName name{.lun = "l", .channel = "c"};
  contents->recordings.catalog()->DeleteChannel(name);
  EXPECT_TRUE(contents->recordings.FindChannel(name).ok());
  EXPECT_EQ(channels.ListChannels("luns/l")->size(), 1u);
  ASSERT_TRUE(channels.UpdateChannel(NewRate("c", 7), "").ok());
  EXPECT_EQ((*contents->recordings.catalog()->GetChannel(name))->sample_rate, 7) << "it follows";
}

// Calls back once, when the thread that makes a channel asks for the time.
class CallingClock : public dataplane::Clock {
 public:
  int64_t NowNs() const override { return clock_.NowNs(); }
  int64_t WallNs() const override {
    if (making_ == std::this_thread::get_id()) {
      making_ = std::thread::id();
      call();
    }
    return clock_.WallNs();
  }
  void CallThisThread() { making_ = std::this_thread::get_id(); }
  std::function<void()> call;

 private:
  const dataplane::SystemClock clock_{};
  mutable std::atomic<std::thread::id> making_;
};

class ChannelsOfALostLun : public testing::Test, protected Vanishing {
 protected:
  ChannelsOfALostLun() : Vanishing("posix") {}

  // What lies at its place then is what was there.
  void Replace() {
    fs::copy(member(), member() + "-copy", fs::copy_options::recursive);
    MoveAway();
    fs::rename(member() + "-copy", member());
  }
};

TEST_F(ChannelsOfALostLun, OneThatIsMadeMeanwhileIsThere) {
  const auto clock = std::make_shared<CallingClock>();
  deck_.Restart({.clock = clock});
  absl::StatusOr<services::Lun> attached;
  clock->call = [&] {
    Replace();
    ASSERT_TRUE(Becomes(services::LunState::kOffline));
    attached = deck_.node().luns().AttachLun({.members = {member()}}, "");
  };
  clock->CallThisThread();
  const auto made = deck_.node().channels().CreateChannel(ChannelOf("d"), "");
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(Reason(attached.status()), "LUN_EXISTS") << attached.status();
  ASSERT_TRUE(Becomes(services::LunState::kReady)) << Lun().cause;
  EXPECT_TRUE(deck_.node().channels().GetChannel(ChannelOf("d").name).ok());
  EXPECT_TRUE(deck_.Record({.channel = ChannelOf("d").name}).ok());
}

TEST_F(ChannelsOfALostLun, AreShownAsTheyWereLast) {
  ASSERT_TRUE(deck_.node().channels().UpdateChannel(NewRate("c", 5), "").ok());
  MoveAway();
  ASSERT_TRUE(Becomes(services::LunState::kOffline));
  EXPECT_EQ(deck_.node().channels().GetChannel(ChannelOf("c").name)->sample_rate, 5);
  deck_.Start();
  EXPECT_EQ(Lun().state, services::LunState::kOffline);
  EXPECT_EQ(deck_.node().channels().ListChannels("luns/-")->at(0).sample_rate, 5);
}

// They are held in memory.
TEST_F(ChannelsOfALostLun, HaveABound) {
  const std::string uid = Lun().uid;
  deck_.Stop();
  for (int i = 1; i < 1024; ++i) {
    const std::string id = "x" + std::to_string(i);
    fs::create_directory(member() + "/" + id);
    std::ofstream(member() + "/" + id + "/channel.json")
        << format::EncodeChannel(ChannelOf(id), uid);
  }
  deck_.Start();
  ASSERT_EQ(deck_.node().channels().ListChannels("luns/l")->size(), 1024u);
  EXPECT_EQ(Reason(deck_.node().channels().CreateChannel(ChannelOf("d"), "").status()),
            "LIMIT_REACHED");
  EXPECT_TRUE(deck_.node().channels().UpdateChannel(NewRate("c", 5), "").ok());
  EXPECT_TRUE(deck_.node().channels().DeleteChannel(ChannelOf("x1").name).ok());
  EXPECT_TRUE(deck_.node().channels().CreateChannel(ChannelOf("d"), "").ok());
}

}  // namespace
}  // namespace tapedeck::storage_node
