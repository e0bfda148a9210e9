#include "services/model/recording/part.h"

#include <gtest/gtest.h>

#include "services/base/errors.h"

namespace tapedeck::services::model {
namespace {

TEST(PartTest, HasANameForPeople) {
  const Part part{.number = 2, .parts = 3, .whole = "20261127T135638Z-0a1b2c3d"};
  EXPECT_TRUE(CheckPart(part).ok());
  EXPECT_EQ(NameOfPart(part), "part 2 of 3");
}

TEST(PartTest, RefusesWhatIsNoPart) {
  const auto reason = [](const Part& part) {
    const auto found = ReasonOf(CheckPart(part));
    return found.has_value() ? found->reason : "none";
  };
  EXPECT_EQ(reason({.number = 0, .parts = 3, .whole = "r"}), "ARGUMENT_INVALID");
  EXPECT_EQ(reason({.number = 4, .parts = 3, .whole = "r"}), "ARGUMENT_INVALID");
  EXPECT_EQ(reason({.number = 1, .parts = 17, .whole = "r"}), "ARGUMENT_INVALID");
  EXPECT_EQ(reason({.number = 0, .parts = 0, .whole = "r"}), "ARGUMENT_INVALID");
  EXPECT_EQ(reason({.number = 1, .parts = 3, .copies = 0, .whole = "r"}), "ARGUMENT_INVALID");
  EXPECT_EQ(reason({.number = 1, .parts = 3, .copies = 3, .whole = "r"}), "ARGUMENT_INVALID");
  EXPECT_EQ(reason({.number = 1, .parts = 1, .copies = 2, .whole = "r"}), "ARGUMENT_INVALID");
  EXPECT_EQ(reason({.number = 1, .parts = 2, .copies = 2, .whole = "r"}), "none");
  // It names a directory.
  for (const char* id : {"", "../r", "a/b", ".r"}) {
    EXPECT_EQ(reason({.number = 1, .parts = 3, .whole = id}), "NAME_INVALID") << id;
  }
}

}  // namespace
}  // namespace tapedeck::services::model
