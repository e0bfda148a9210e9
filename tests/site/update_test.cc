// A LUN and a channel are changed while a recording runs, and the LUN gets another member and spare
// files: it ends as it began, the next one has what was changed, and so does the node after a
// restart. What cannot be is refused and named. That a kill -9 takes none of it is a row of
// tests/e2e/kills.sh.

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/site/site.h"

namespace tapedeck::site {
namespace {

using services::model::RecordingState;

constexpr char kLun[] = "luns/l0";
constexpr char kChannel[] = "luns/l0/channels/c0";

class UpdateTest : public SiteTest {
 protected:
  UpdateTest() {
    AddLun(node_, "l0", uint64_t{3} << 30);
    const auto made = node_.catalog().CreateChannel(
        {.name = kChannel, .block_bytes = 64 << 10, .datatype = "cf32_le", .sample_rate = 1e6});
    EXPECT_TRUE(made.ok()) << made.status();
  }

  absl::Status Change(const std::function<void(services::LunUpdate&)>& set) {
    services::LunUpdate update{.name = kLun};
    set(update);
    return node_.catalog().UpdateLun(update).status();
  }
  absl::Status ChangeChannel(const std::function<void(services::ChannelUpdate&)>& set) {
    services::ChannelUpdate update{.name = kChannel};
    set(update);
    return node_.catalog().UpdateChannel(update).status();
  }

  void ChangeAll() {
    ExpectOk(Change([this](services::LunUpdate& lun) {
      lun.Set(&services::Lun::capacity_bytes, 4'000'000'000)
          .Set(&services::Lun::max_age_ns, absl::ToInt64Nanoseconds(absl::Hours(72)))
          .Set(&services::Lun::max_fill_percent, 90)
          .Set(&services::Lun::members, {dir_.path() + "/l0", more_});
    }));
    ExpectOk(Change([](services::LunUpdate& lun) {
      lun.Set(&services::Lun::prewrite_files, 2).Set(&services::Lun::prewrite_bytes, 1 << 20);
    }));
    ExpectOk(ChangeChannel([](services::ChannelUpdate& channel) {
      channel.Set(&services::Channel::block_bytes, 128 << 10)
          .Set(&services::Channel::commit, dataplane::CommitLevel::kWritten);
    }));
  }

  void ExpectChanged() {
    const services::Lun lun = node_.LunNamed(kLun);
    EXPECT_EQ(lun.capacity_bytes, 4'000'000'000u);
    EXPECT_EQ(lun.max_age_ns, absl::ToInt64Nanoseconds(absl::Hours(72)));
    EXPECT_EQ(lun.max_fill_percent, 90u);
    EXPECT_EQ(lun.prewrite_files, 2u);
    EXPECT_EQ(lun.prewrite_bytes, 1u << 20);
    EXPECT_EQ(lun.members.size(), 2u);
    const services::Channel channel = node_.ChannelNamed(kChannel);
    EXPECT_EQ(channel.block_bytes, 128u << 10);
    EXPECT_EQ(channel.commit, dataplane::CommitLevel::kWritten);
    EXPECT_EQ(channel.sample_rate, 1e6);
  }

  static void ExpectOk(const absl::Status& status) { EXPECT_TRUE(status.ok()) << status; }
  static void ExpectNamed(const absl::Status& status, const std::string& what) {
    ExpectRefused(status, absl::StatusCode::kInvalidArgument, "ARGUMENT_INVALID", what);
  }

  // Of at least so many bytes.
  static int FilesNamed(const std::string& name, const std::string& below, uint64_t bytes) {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(below)) {
      count +=
          entry.is_regular_file() && entry.path().filename() == name && entry.file_size() >= bytes;
    }
    return count;
  }
  static int SparesOf(const std::string& member) {
    const std::string folder = member + "/.tapedeck/spares";
    int count = 0;
    if (!std::filesystem::exists(folder)) return 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      count += entry.is_regular_file() && entry.file_size() == 1 << 20;
    }
    return count;
  }

  const std::string more_ = dir_.Make("more");
  Node& node_ = AddNode();
  Worker& worker_ = AddWorker();
};

TEST_F(UpdateTest, CountsFromTheNextRecordingOn) {
  const auto started = worker_.jobs().StartRecord(Recording(node_, kChannel, 4000));
  ASSERT_TRUE(started.ok()) << started.status();
  ASSERT_TRUE(AwaitBlocks(worker_, *started, 50));
  ChangeAll();
  ExpectChanged();
  EXPECT_FALSE(services::model::HasEnded(worker_.Now(*started)))
      << "nothing was recorded meanwhile";
  ExpectWhole(worker_.Ended(started), 4000);
  const services::Recording before = node_.Newest(kChannel);
  EXPECT_EQ(before.state, RecordingState::kSealed);
  EXPECT_EQ(before.blocks, 4000u);
  EXPECT_EQ(before.block_bytes, 64u << 10);
  EXPECT_EQ(before.commit, dataplane::CommitLevel::kDurable);
  EXPECT_EQ(FilesNamed("data", more_, 0), 0) << "a recording that ran has reached a new member";
  for (const std::string& member : {dir_.path() + "/l0", more_}) {
    EXPECT_TRUE(Await([&] { return SparesOf(member) == 2; })) << "no spares in " << member;
  }

  node_.Stop();
  node_.Start();
  ExpectChanged();
  ExpectWhole(worker_.Record(Recording(node_, kChannel, 20)), 20);
  EXPECT_EQ(node_.Newest(kChannel).block_bytes, 128u << 10);
  EXPECT_EQ(FilesNamed("data", more_, 1'000'000), 1) << "the next one is not on the new member";
  ExpectWhole(worker_.Play(Playing(node_, before.name)), 4000);
}

TEST_F(UpdateTest, RefusesAndNamesWhatCannotBe) {
  ChangeAll();
  ExpectWhole(worker_.Record(Recording(node_, kChannel, 100)), 100);
  ExpectNamed(Change([](auto& lun) { lun.Set(&services::Lun::capacity_bytes, 1 << 20); }),
              "capacity_bytes");
  ExpectNamed(Change([this](auto& lun) {
                lun.Set(&services::Lun::members, {dir_.path() + "/l0", more_, more_});
              }),
              "members");
  ExpectNamed(Change([](auto& lun) { lun.Set(&services::Lun::prewrite_files, 0); }),
              "prewrite_files");
  ExpectOk(ChangeChannel(
      [](auto& channel) { channel.Set(&services::Channel::segment_bytes, uint64_t{2} << 30); }));
  ExpectNamed(Change([](auto& lun) {
                lun.Set(&services::Lun::full_policy, services::model::FullPolicy::kRing);
              }),
              kChannel);
  ExpectOk(ChangeChannel([](auto& channel) { channel.Set(&services::Channel::segment_bytes, 0); }));
  ExpectNamed(ChangeChannel([](auto&) {}), "update_mask");
  ExpectChanged();
}

}  // namespace
}  // namespace tapedeck::site
