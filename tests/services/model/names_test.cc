#include "services/model/words/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "services/model/job.h"
#include "services/model/lun.h"
#include "services/model/recording/damage_kind.h"
#include "services/model/recording/recording.h"
#include "services/model/seams/node.h"
#include "services/model/seams/scrub.h"
#include "services/rpc/identity/role.h"

namespace tapedeck::services::model {
namespace {

template <typename Enum>
class NamesTest : public testing::Test {};

using Enums = testing::Types<dataplane::TransferOp, dataplane::CommitLevel, dataplane::Direction,
                             DamageKind, FullPolicy, JobState, LunState, RecordingState, NodeRole,
                             ScrubState, identity::Role>;
TYPED_TEST_SUITE(NamesTest, Enums);

TYPED_TEST(NamesTest, EachValueIsFoundByItsWordInAnyCase) {
  std::set<TypeParam> values;
  std::set<std::string> labels;
  for (const auto& [value, name] : EnumNames<TypeParam>::kTable) {
    EXPECT_EQ(NameOf(value), name);
    EXPECT_EQ(EnumNamed<TypeParam>(name).value(), value);
    EXPECT_EQ(EnumNamed<TypeParam>(LabelOf(value)).value(), value);
    EXPECT_TRUE(values.insert(value).second) << name << " has two words";
    EXPECT_TRUE(labels.insert(LabelOf(value)).second) << name << " stands twice";
  }
}

TYPED_TEST(NamesTest, AnotherWordIsRefusedWithThoseThereAre) {
  const absl::Status refused = EnumNamed<TypeParam>("tape").status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused));
  EXPECT_THAT(std::string(refused.message()), testing::HasSubstr("\"tape\""));
  for (const auto& [value, name] : EnumNames<TypeParam>::kTable) {
    EXPECT_THAT(std::string(refused.message()), testing::HasSubstr(std::string(name)));
  }
  EXPECT_EQ(NameOf(static_cast<TypeParam>(99)), "unknown");
}

TEST(LabelTest, IsTheWordInSmallLetters) {
  EXPECT_EQ(LabelOf(dataplane::Direction::kPlayback), "playback");
  EXPECT_EQ(LabelOf(NodeRole::kStorage), "storage");
}

}  // namespace
}  // namespace tapedeck::services::model
