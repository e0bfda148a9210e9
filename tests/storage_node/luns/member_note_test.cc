// What members say of their LUN: without the state directory it must be enough.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "storage_node/format/json_text.h"
#include "storage_node/format/limits.h"
#include "storage_node/format/lun_note.h"
#include "storage_node/store/device/note.h"
#include "storage_node/store/device/store.h"
#include "storage_node/store/list.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uint64_t kImage = 64 << 20;

class DeviceNote : public testing::Test {
 protected:
  DeviceNote() : node_("device", 2, 0, kImage) {}

  std::string image(int member) const { return node_.dir().path() + "/m" + std::to_string(member); }
  std::string state_channels() const { return node_.state_dir() + "/luns/l.channels"; }

  void Overwrite(int member, uint32_t copy, char value, size_t bytes) {
    std::fstream file(image(member), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(store::device::NoteOffset(copy)));
    file.write(std::string(bytes, value).data(), static_cast<std::streamsize>(bytes));
  }
  void EraseNotes() {
    for (const int member : {0, 1}) {
      for (const uint32_t copy : {0u, 1u}) Overwrite(member, copy, 0, store::device::kNoteBytes);
    }
  }
  std::vector<std::string> Channels() {
    std::vector<std::string> names;
    const auto channels = node_.node().channels().ListChannels("luns/l");
    if (!channels.ok()) return {std::string(channels.status().message())};
    for (const auto& channel : *channels) names.push_back(channel.name);
    return names;
  }

  NodeFixture node_;
};

TEST_F(DeviceNote, HasTheLunAndItsChannels) {
  node_.MakeChannel("d", dataplane::CommitLevel::kWritten);
  ASSERT_TRUE(node_.node().channels().DeleteChannel("luns/l/channels/c").ok());
  node_.MakeChannel("e", dataplane::CommitLevel::kDurable);
  const services::Lun lun = *node_.node().luns().GetLun("luns/l");
  node_.Stop();
  EXPECT_FALSE(fs::exists(state_channels()));
  for (const uint32_t member : {0u, 1u}) {
    const std::string path = image(static_cast<int>(member));
    const auto kind = store::FindMemberKind(path);
    ASSERT_TRUE(kind.ok()) << kind.status();
    const auto said = (*kind)->described_by(path);
    ASSERT_TRUE(said.ok()) << said.status();
    EXPECT_EQ(said->member, member);
    EXPECT_EQ(said->lun.uid, lun.uid);
    EXPECT_EQ(said->lun.members, lun.members);
  }
  node_.Start();
  EXPECT_THAT(Channels(), testing::ElementsAre("luns/l/channels/d", "luns/l/channels/e"));
}

TEST_F(DeviceNote, IsWrittenAtTheStartWhereItLacks) {
  node_.Stop();
  EraseNotes();
  fs::create_directories(state_channels() + "/old");
  std::ofstream(state_channels() + "/old/channel.json") << format::EncodeChannel(
      {.name = "luns/l/channels/old", .block_bytes = kBlockBytes, .datatype = "cf32_le"});
  node_.Start();
  EXPECT_THAT(Channels(), testing::ElementsAre("luns/l/channels/old"));
  node_.Stop();
  fs::remove_all(state_channels());
  node_.Start();
  EXPECT_THAT(Channels(), testing::ElementsAre("luns/l/channels/old"));
}

TEST_F(DeviceNote, TornInOneCopyIsTheOtherAndDamagedInAllTakesTheLunOffline) {
  node_.MakeChannel("d", dataplane::CommitLevel::kDurable);  // generation 3: copy 1
  node_.Stop();
  for (const int member : {0, 1}) Overwrite(member, 1, 'x', 100);
  node_.Start();
  EXPECT_THAT(Channels(), testing::ElementsAre("luns/l/channels/c"));
  node_.Stop();
  for (const int member : {0, 1}) Overwrite(member, 0, 'x', 100);
  node_.Start();
  const services::Lun lun = *node_.node().luns().GetLun("luns/l");
  EXPECT_EQ(lun.state, services::LunState::kOffline);
  EXPECT_THAT(lun.cause, HasSubstr("note is damaged"));
  EXPECT_THAT(Channels(), testing::ElementsAre("luns/l/channels/c"));
}

TEST_F(DeviceNote, OfAnotherLunOnTheSameDeviceIsNotTaken) {
  const services::Lun lun = *node_.node().luns().GetLun("luns/l");
  node_.Stop();
  services::Lun other = lun;
  other.uid = "99112233-4455-4677-8899-aabbccddeeff";
  other.origin_uid = lun.uid;
  EXPECT_TRUE(store::device::Describe(other, 0).ok());
  EXPECT_EQ(store::device::Open(lun, 0).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(store::device::Open(other, 0).ok());
}

TEST(Note, LongerThanItsPlaceIsRefused) {
  const std::string longest(format::kMaxNoteBytes, 'x');
  const format::Uuid stamp;
  const auto pages = store::device::EncodeNote({.generation = 1, .text = longest}, stamp, 1);
  ASSERT_TRUE(pages.ok()) << pages.status();
  EXPECT_EQ(store::device::DecodeNote(pages->bytes(), stamp, 1)->text, longest);
  EXPECT_FALSE(store::device::DecodeNote(pages->bytes(), stamp, 0).ok());
  const auto longer = store::device::EncodeNote({.generation = 1, .text = longest + "x"}, stamp, 1);
  EXPECT_EQ(Reason(longer.status()), "LIMIT_REACHED");
}

TEST(Note, SaysOnlyWhatALunMayBe) {
  const services::Lun lun{.name = "luns/l",
                          .uid = "00112233-4455-4677-8899-aabbccddeeff",
                          .store = "device",
                          .members = {"/m"}};
  const format::LunNote note{
      .lun = lun,
      .channels = {{.name = "luns/l/channels/c", .block_bytes = 1 << 20, .datatype = "cu8"}}};
  const std::string text = format::EncodeLunNote(note);
  ASSERT_TRUE(format::DecodeLunNote(text).ok()) << format::DecodeLunNote(text).status();
  EXPECT_EQ(format::EncodeLunNote(*format::DecodeLunNote(text)), text);
  auto crafted = *format::OpenJson(text, "note", format::kMaxNoteBytes);
  for (const nlohmann::json& bad :
       {nlohmann::json(3), nlohmann::json("{}"), nlohmann::json::array()}) {
    auto object = crafted;
    object["channels"] = {bad};
    EXPECT_FALSE(format::DecodeLunNote(format::SealJson(object)).ok()) << bad;
    object = crafted;
    object["lun"] = bad;
    EXPECT_FALSE(format::DecodeLunNote(format::SealJson(object)).ok()) << bad;
  }
  crafted["version"] = 2;
  EXPECT_FALSE(format::DecodeLunNote(format::SealJson(crafted)).ok());
}

class DirectoryMember : public testing::Test {
 protected:
  DirectoryMember() : node_("posix", 2) {}
  std::string member(int m) const { return node_.dir().path() + "/m" + std::to_string(m); }
  NodeFixture node_;
};

TEST_F(DirectoryMember, ChannelFileGetsItsLunsUidAtTheStart) {
  const std::string uid = node_.node().luns().GetLun("luns/l")->uid;
  const std::string file = member(0) + "/c/channel.json";
  const auto text = [&] {
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const auto channel = format::DecodeChannel(text());
  ASSERT_TRUE(channel.ok());
  EXPECT_EQ(format::DecodeChannelFile(text())->lun_uid, uid);
  node_.Stop();
  std::ofstream(file) << format::EncodeChannel(*channel);
  node_.Start();
  EXPECT_EQ(format::DecodeChannelFile(text())->lun_uid, uid);
  node_.Stop();
  std::ofstream(file) << format::EncodeChannel(*channel, "99112233-4455-4677-8899-aabbccddeeff");
  node_.Start();
  EXPECT_EQ(node_.node().luns().GetLun("luns/l")->state, services::LunState::kOffline);
}

TEST_F(DirectoryMember, InThePlaceOfAnotherIsNamed) {
  node_.RecordAndSeal(3);
  node_.Stop();
  fs::rename(member(0), member(2));
  fs::rename(member(1), member(0));
  fs::rename(member(2), member(1));
  node_.Start();
  const services::Lun lun = *node_.node().luns().GetLun("luns/l");
  EXPECT_EQ(lun.state, services::LunState::kOffline);
  EXPECT_THAT(lun.cause, HasSubstr("is member 1 of luns/l, not member 0"));
  EXPECT_THAT(lun.cause, HasSubstr("tapectl lun attach"));
}

}  // namespace
}  // namespace tapedeck::storage_node
