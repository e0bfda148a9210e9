// What each command does with each kind of recording: the table that people read is the code's.
#include "services/model/recording/treatment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "services/base/errors.h"
#include "tests/shared_data.h"

namespace tapedeck::services::model {
namespace {

using ::testing::HasSubstr;

TEST(TreatmentTest, EveryCellSaysSomethingAndARefusalWhatToDo) {
  for (const auto& [use, command] : EnumNames<Use>::kTable) {
    for (const auto& [kind, word] : EnumNames<Kind>::kTable) {
      const Treatment treatment = TreatmentOf(use, kind);
      EXPECT_FALSE(treatment.does.empty()) << command << ", " << word;
      EXPECT_EQ(treatment.takes, treatment.remedy.empty()) << command << ", " << word;
      const absl::Status checked = CheckTakes(use, kind, "luns/l0");
      EXPECT_EQ(checked.ok(), treatment.takes) << command << ", " << word;
      if (checked.ok()) continue;
      EXPECT_EQ(ReasonOf(checked)->reason, "ARGUMENT_INVALID");
      EXPECT_THAT(std::string(checked.message()), HasSubstr(std::string(treatment.remedy)));
    }
  }
}

TEST(TreatmentTest, TheReadmeHasTheSameTable) {
  std::ifstream file(TreeFile("services/tapectl/README.md"));
  const std::string readme(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(readme, HasSubstr(TreatmentTable()));
}

TEST(TreatmentTest, KnowsWhatANameStandsFor) {
  Recording one{.name = "luns/l0/channels/c0/recordings/s", .state = RecordingState::kSealed};
  EXPECT_TRUE(CheckTakes(Use::kCopy, Alone(one)).ok());
  one.state = RecordingState::kRecording;
  EXPECT_FALSE(CheckTakes(Use::kCopy, Alone(one)).ok());
  EXPECT_TRUE(CheckTakes(Use::kKeep, Alone(one)).ok());
  one.stream = "s";
  const Stream stream{.name = one.name, .segments = {one}, .segmented = true};
  EXPECT_FALSE(CheckTakes(Use::kKeep, stream).ok());
  EXPECT_TRUE(CheckTakes(Use::kKeep, Alone(one)).ok()) << "a segment that is named";
  EXPECT_TRUE(CheckTakes(Use::kExport, stream).ok());
  EXPECT_FALSE(CheckTakes(Use::kRepair, Alone(one)).ok());
}

}  // namespace
}  // namespace tapedeck::services::model
