// Every setting of a LUN and of a channel can be changed by itself, whatever goes on there, and is
// refused by name where it cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "storage_node/store/list.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;
using services::model::ForEachField;
using services::model::Update;
using testing::HasSubstr;
using testing::StartsWith;

// Less than a device has.
constexpr uint64_t kSettingsCapacity = 192 << 20;
constexpr uint64_t kSettingsDevice = 256 << 20;
// The recordings of a ManualExecutor are of 1970.
constexpr int64_t kLong = services::model::kMaxDurationNs - 1000;

// What goes on in the LUN meanwhile.
enum class Beside { kNothing, kRecording, kPlayback };
constexpr Beside kAllBeside[] = {Beside::kNothing, Beside::kRecording, Beside::kPlayback};

// For each setting the change of it alone to what `to` has.
template <typename Struct, typename Visit>
void EachSetting(const std::string& name, const Struct& to, Visit visit) {
  ForEachField<Struct>([&](const auto& field) {
    if (!field.settable()) return;
    SCOPED_TRACE(field.name);
    Update<Struct> update{.name = name};
    update.fields.emplace(field.name);
    update.to.*field.member = to.*field.member;
    visit(field, update);
  });
}

// Of all settings, those in which the two differ.
template <typename Struct>
void ExpectSettings(const Struct& is, const Struct& expected) {
  ForEachField<Struct>([&](const auto& field) {
    if (!field.settable()) return;
    EXPECT_EQ(is.*field.member, expected.*field.member) << field.name;
  });
}

class EverySetting : public testing::TestWithParam<std::string> {
 protected:
  EverySetting() : node_(GetParam(), 1, kSettingsCapacity, kSettingsDevice) {
    recording_ = node_.RecordAndSeal(200);
    if (!kind().capabilities.prewrites) return;
    // One of the two cannot be without the other.
    EXPECT_TRUE(node_.node()
                    .luns()
                    .UpdateLun(services::LunUpdate{.name = "luns/l"}
                                   .Set(&services::Lun::prewrite_files, 5)
                                   .Set(&services::Lun::prewrite_bytes, 4096),
                               "")
                    .ok());
  }

  static store::StoreKind kind() { return *store::FindStoreKind(GetParam()); }
  services::Lun GetLun() { return *node_.node().luns().GetLun("luns/l"); }
  services::Channel GetChannel() {
    return *node_.node().channels().GetChannel("luns/l/channels/c");
  }

  // Each setting is another than in the round before, and than at first.
  services::Lun LunOf(int round) {
    const uint64_t number = static_cast<uint64_t>(round) + 1;
    services::Lun lun{
        .members = GetLun().members,
        .capacity_bytes = kSettingsCapacity / 2 + number * (4 << 20),
        .full_policy = round % 2 == 0 ? services::FullPolicy::kRing : services::FullPolicy::kStop,
        .max_age_ns = kLong + static_cast<int64_t>(number),
        .max_fill_percent = static_cast<uint32_t>(90 + number),
        .prewrite_files = static_cast<uint32_t>(number),
        .prewrite_bytes = number * 8192,
        .description = absl::StrCat("round ", round),
        .labels = {{"round", absl::StrCat(round)}}};
    const std::string name = absl::StrCat("more", round);
    lun.members.push_back(GetParam() == "device" ? node_.dir().MakeImage(name, kSettingsDevice)
                                                 : node_.dir().Make(name));
    return lun;
  }
  static services::Channel ChannelOf(int round) {
    const uint64_t number = static_cast<uint64_t>(round) + 1;
    constexpr dataplane::TransferOp kOps[] = {
        dataplane::TransferOp::kSend, dataplane::TransferOp::kWrite, dataplane::TransferOp::kRead};
    return {.block_bytes = kBlockBytes << number,
            .datatype = round % 2 == 0 ? "cu8" : "ci16_le",
            .sample_rate = 1000.0 * static_cast<double>(number),
            .op = kOps[round],
            .commit = round % 2 == 0 ? dataplane::CommitLevel::kWritten
                                     : dataplane::CommitLevel::kDurable,
            .pre_trigger_ns = static_cast<int64_t>(number) * 1'000'000,
            .post_trigger_ns = static_cast<int64_t>(number) * 2'000'000,
            .segment_bytes = number * (8 << 20),
            .description = absl::StrCat("round ", round),
            .labels = {{"round", absl::StrCat(round)}},
            .move_to = "luns/none",
            .move_after_ns = static_cast<int64_t>(number) * 1'000'000'000,
            .move_bytes_per_s = number << 20};
  }

  // Whether this kind of LUN has it.
  static bool Has(absl::string_view field) {
    if (field == "members") return kind().member != nullptr;
    return !absl::StartsWith(field, "prewrite_") || kind().capabilities.prewrites;
  }

  // What goes on ends with it.
  services::session::Admission Begin(Beside beside) {
    if (beside == Beside::kNothing) return {};
    if (beside == Beside::kPlayback) return *node_.Play(recording_);
    auto recorder = node_.Record();
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    for (uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(recorder->Push(i).ok());
    return std::move(recorder->admission);
  }

  NodeFixture node_;
  std::string recording_;
};

using EverySettingOnMembers = EverySetting;

TEST_P(EverySetting, OfALunChangesAlone) {
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    const services::session::Admission goes_on = Begin(kAllBeside[round]);
    const services::Lun to = LunOf(round);
    services::Lun expected = GetLun();
    EachSetting("luns/l", to, [&](const auto& field, const services::LunUpdate& update) {
      EXPECT_NE(expected.*field.member, to.*field.member) << "nothing is tried";
      const absl::Status status = node_.node().luns().UpdateLun(update, "").status();
      if (Has(field.name)) {
        EXPECT_TRUE(status.ok()) << status;
        expected.*field.member = to.*field.member;
      } else {
        EXPECT_EQ(Reason(status), "ARGUMENT_INVALID");
        EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam()));
      }
      ExpectSettings(GetLun(), expected);
    });
  }
  if (!kind().capabilities.outlives_process) return;
  const services::Lun expected = GetLun();
  node_.Start();
  ExpectSettings(GetLun(), expected);
  EXPECT_EQ(node_.PlayAll(recording_).size(), 200u);
}

TEST_P(EverySetting, OfAChannelChangesAlone) {
  // All of them go together there.
  ASSERT_TRUE(node_.node()
                  .luns()
                  .UpdateLun(services::LunUpdate{.name = "luns/l"}.Set(&services::Lun::full_policy,
                                                                       services::FullPolicy::kRing),
                             "")
                  .ok());
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    const services::session::Admission goes_on = Begin(kAllBeside[round]);
    const services::Channel to = ChannelOf(round);
    services::Channel expected = GetChannel();
    EachSetting(
        "luns/l/channels/c", to, [&](const auto& field, const services::ChannelUpdate& update) {
          EXPECT_NE(expected.*field.member, to.*field.member) << "nothing is tried";
          const absl::Status status = node_.node().channels().UpdateChannel(update, "").status();
          if (field.name == "move_to") {
            // Of a ring: tests/storage_node/moving has those that can be.
            EXPECT_EQ(Reason(status), "ARGUMENT_INVALID");
            return;
          }
          EXPECT_TRUE(status.ok()) << status;
          expected.*field.member = to.*field.member;
          ExpectSettings(GetChannel(), expected);
        });
  }
}

TEST_P(EverySetting, OfWhatIsNotThere) {
  EachSetting("luns/none", LunOf(0), [&](const auto&, const services::LunUpdate& update) {
    EXPECT_EQ(Reason(node_.node().luns().UpdateLun(update, "").status()), "LUN_NOT_FOUND");
  });
  EachSetting("luns/l/channels/none", ChannelOf(0),
              [&](const auto&, const services::ChannelUpdate& update) {
                EXPECT_EQ(Reason(node_.node().channels().UpdateChannel(update, "").status()),
                          "CHANNEL_NOT_FOUND");
              });
}

TEST_P(EverySettingOnMembers, OfWhatIsOffline) {
  const services::Lun before = GetLun();
  node_.Stop();
  const std::string member = before.members[0];
  fs::rename(member, member + ".away");
  node_.Start();
  EachSetting("luns/l", LunOf(0), [&](const auto&, const services::LunUpdate& update) {
    EXPECT_EQ(Reason(node_.node().luns().UpdateLun(update, "").status()), "LUN_OFFLINE");
  });
  EachSetting("luns/l/channels/c", ChannelOf(0),
              [&](const auto&, const services::ChannelUpdate& update) {
                EXPECT_EQ(Reason(node_.node().channels().UpdateChannel(update, "").status()),
                          "LUN_OFFLINE");
              });
  node_.Stop();
  fs::rename(member + ".away", member);
  node_.Start();
  ExpectSettings(GetLun(), before);
}

std::string SettingStoreName(const testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Stores, EverySetting,
                         testing::Values("posix", "direct", "device", "memory"), SettingStoreName);
INSTANTIATE_TEST_SUITE_P(Stores, EverySettingOnMembers, testing::Values("posix", "device"),
                         SettingStoreName);

}  // namespace
}  // namespace tapedeck::storage_node
