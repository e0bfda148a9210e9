// lun.json and channel.json keep every field that a LUN or a channel keeps: a field that is added
// to the model and forgotten here fails.
#include "storage_node/format/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_replace.h"
#include "storage_node/format/json_text.h"
#include "tests/storage_node/every_field.h"

namespace tapedeck::storage_node::format {
namespace {

using services::Channel;
using services::Lun;
using services::model::ForEachField;
using testing::HasSubstr;

template <typename Struct>
void ExpectAllKept(const Struct& kept, const Struct& was) {
  ForEachField<Struct>([&](const auto& field) {
    SCOPED_TRACE(field.name);
    if (!field.kept()) return;
    EXPECT_NE(was.*field.member, Struct().*field.member) << "say another value in every_field.h";
    EXPECT_EQ(kept.*field.member, was.*field.member);
  });
}

TEST(Config, KeepsEveryField) {
  const auto lun = DecodeLunMember(EncodeLun(EveryLunField(), 1));
  ASSERT_TRUE(lun.ok()) << lun.status();
  EXPECT_EQ(lun->member, 1u);
  ExpectAllKept(lun->lun, EveryLunField());
  const auto channel = DecodeChannelFile(EncodeChannel(EveryChannelField(), lun->lun.uid));
  ASSERT_TRUE(channel.ok()) << channel.status();
  EXPECT_EQ(channel->lun_uid, lun->lun.uid);
  ExpectAllKept(channel->channel, EveryChannelField());
}

TEST(Config, KeepsNoChoice) {
  Channel channel = EveryChannelField();
  channel.op.reset();
  EXPECT_FALSE(DecodeChannel(EncodeChannel(channel))->op.has_value());
}

TEST(Config, RefusesWhatWasChangedWithoutItsCheckValue) {
  const std::string changed =
      absl::StrReplaceAll(EncodeChannel(EveryChannelField()), {{"131072", "262144"}});
  EXPECT_TRUE(absl::IsDataLoss(DecodeChannel(changed).status()));
}

// The same object with another value, and the check value of it.
std::string Resealed(const std::string& text, const char* key, const nlohmann::json& value) {
  nlohmann::json object = *OpenJson(text, "config", 1 << 16);
  object[key] = value;
  return SealJson(std::move(object));
}

TEST(Config, NamesWhatAValueMayBe) {
  const auto refused = [](const char* key, const nlohmann::json& value) {
    const auto channel = DecodeChannel(Resealed(EncodeChannel(EveryChannelField()), key, value));
    EXPECT_TRUE(absl::IsDataLoss(channel.status())) << key << ": " << channel.status();
    return std::string(channel.status().message());
  };
  EXPECT_THAT(refused("commit_level", "sometimes"), HasSubstr("received, written or durable"));
  EXPECT_THAT(refused("transfer_op", "PUSH"), HasSubstr("READ, WRITE or SEND"));
  EXPECT_THAT(refused("block_bytes", 4096), HasSubstr("from 65536 to 8388608"));
  EXPECT_THAT(refused("sample_rate", -1), HasSubstr("sample_rate"));
  EXPECT_THAT(refused("pre_trigger_ns", -1), HasSubstr("pre_trigger_ns"));
}

TEST(Config, SaysWhatToDoAboutAnotherVersion) {
  for (const int version : {0, 1, 2, 4}) {
    const auto lun = DecodeLun(Resealed(EncodeLun(EveryLunField(), 0), "version", version));
    EXPECT_TRUE(absl::IsFailedPrecondition(lun.status())) << lun.status();
    EXPECT_THAT(lun.status().message(), HasSubstr(absl::StrCat("format version ", version)));
    EXPECT_THAT(lun.status().message(), HasSubstr("the Tapedeck that wrote it"));
  }
}

}  // namespace
}  // namespace tapedeck::storage_node::format
