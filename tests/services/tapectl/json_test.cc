// The JSON of the command line has every field of the model that is told to anybody.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "services/model/field.h"
#include "services/tapectl/answer.h"

namespace tapedeck::services::tapectl {
namespace {

template <typename Struct>
void ExpectAllTold(const nlohmann::json& json) {
  size_t told = 0;
  model::ForEachField<Struct>([&](const auto& field) {
    const bool seconds = field.unit == model::Unit::kDuration;
    const std::string key = absl::StrCat(field.name, seconds ? "_s" : "");
    EXPECT_EQ(json.contains(key), field.told()) << key;
    told += field.told() ? 1 : 0;
  });
  EXPECT_EQ(json.size(), told);
}

TEST(FieldJson, HasEveryField) {
  ExpectAllTold<Lun>(nlohmann::json::parse(AnswerOf(Lun()).json));
  ExpectAllTold<Channel>(nlohmann::json::parse(AnswerOf(Channel()).json));
  Recording recording;
  recording.annotations.emplace_back();
  const auto json = nlohmann::json::parse(AnswerOf(recording).json);
  ExpectAllTold<Recording>(json);
  ExpectAllTold<Annotation>(json["annotations"][0]);
}

TEST(FieldJson, ShowsValuesAsPeopleReadThem) {
  const auto json =
      nlohmann::json::parse(AnswerOf(Channel{.sample_rate = 2e6,
                                             .op = dataplane::TransferOp::kSend,
                                             .pre_trigger_ns = 1'500'000'000,
                                             .create_time_ns = 1'800'000'000'000'000'000})
                                .json);
  EXPECT_EQ(json["sample_rate"], 2e6);
  EXPECT_EQ(json["transfer_op"], "SEND");
  EXPECT_EQ(json["commit_level"], "durable");
  EXPECT_EQ(json["pre_trigger_s"], 1.5);
  EXPECT_EQ(json["create_time"], "2027-01-15T08:00:00Z");
  EXPECT_TRUE(nlohmann::json::parse(AnswerOf(Channel()).json)["transfer_op"].is_null());
}

}  // namespace
}  // namespace tapedeck::services::tapectl
