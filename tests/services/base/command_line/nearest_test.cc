#include "services/base/command_line/nearest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tapedeck::services::command_line {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(EditDistance, CountsLettersAndSwaps) {
  struct Row {
    const char* one;
    const char* other;
    size_t distance;
  };
  for (const Row& row : std::vector<Row>{{"", "", 0},
                                         {"lun", "lun", 0},
                                         {"", "lun", 3},
                                         {"lun", "luns", 1},
                                         {"recrod", "record", 1},
                                         {"craete", "create", 1},
                                         {"lnu", "lun", 1},
                                         {"abcd", "badc", 2},
                                         {"kitten", "sitting", 3},
                                         // A letter that was swapped is not touched again.
                                         {"ca", "abc", 3}}) {
    EXPECT_EQ(EditDistance(row.one, row.other), row.distance) << row.one << " " << row.other;
    EXPECT_EQ(EditDistance(row.other, row.one), row.distance) << row.other << " " << row.one;
  }
}

TEST(Nearest, IsWhatFewLettersMake) {
  const std::vector<std::string> words = {"lun", "record", "recordings", "play", "scrub"};
  EXPECT_THAT(Nearest("recrod", words), ElementsAre("record"));
  EXPECT_THAT(Nearest("lnu", words), ElementsAre("lun"));
  EXPECT_THAT(Nearest("LUN", words), ElementsAre("lun"));
  EXPECT_THAT(Nearest("recording", words), ElementsAre("recordings"));
  EXPECT_THAT(Nearest("create", words), IsEmpty());
  EXPECT_THAT(Nearest("", words), IsEmpty());
  EXPECT_THAT(Nearest("x", words), IsEmpty());
  EXPECT_THAT(Nearest("lun", {}), IsEmpty());
}

TEST(Nearest, IsWhatBeginsSo) {
  const std::vector<std::string> words = {"record", "recordings", "play"};
  EXPECT_THAT(Nearest("rec", words), ElementsAre("record", "recordings"));
  EXPECT_THAT(Nearest("pl", words), ElementsAre("play"));
  EXPECT_THAT(Nearest("p", words), IsEmpty());
}

TEST(Nearest, LooksPastTheDashesOfOptions) {
  const std::vector<std::string> options = {"-h", "--help", "--storage", "--store", "--lun"};
  EXPECT_THAT(Nearest("--stroage", options), ElementsAre("--storage"));
  EXPECT_THAT(Nearest("-storage", options), ElementsAre("--storage"));
  EXPECT_THAT(Nearest("--lnu", options), ElementsAre("--lun"));
  EXPECT_THAT(Nearest("--x", options), IsEmpty());
  EXPECT_THAT(Nearest("--", options), IsEmpty());
}

TEST(Nearest, NamesFewAndLooksAtNothingLong) {
  EXPECT_THAT(Nearest("ax", {"aa", "ab", "ac"}), IsEmpty());
  EXPECT_THAT(Nearest("rail", {"raila", "railb", "railc", "raild"}),
              ElementsAre("raila", "railb", "railc"));
  const std::string longest(64, 'a');
  EXPECT_THAT(Nearest(longest, {longest}), ElementsAre(longest));
  EXPECT_THAT(Nearest(longest + "a", {longest}), IsEmpty());
}

TEST(DidYouMean, NamesThem) {
  EXPECT_EQ(DidYouMean({}), "");
  EXPECT_EQ(DidYouMean({"a"}), "did you mean \"a\"?");
  EXPECT_EQ(DidYouMean({"a", "b"}), "did you mean \"a\" or \"b\"?");
  EXPECT_EQ(DidYouMean({"a", "b", "c"}), "did you mean \"a\", \"b\" or \"c\"?");
}

}  // namespace
}  // namespace tapedeck::services::command_line
