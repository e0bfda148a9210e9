#include "dataplane/topology/distance.h"

#include <gtest/gtest.h>

namespace tapedeck::dataplane::topology {
namespace {

using Names = std::vector<std::string>;

TEST(ChooseRails, TakesAllOfTheNearestClassInTheirOrder) {
  EXPECT_EQ(ChooseRails({{"r0", Distance::kSystem},
                         {"r1", Distance::kNode},
                         {"r2", Distance::kSystem},
                         {"r3", Distance::kNode}}),
            (Names{"r1", "r3"}));
  EXPECT_EQ(ChooseRails({{"r0", Distance::kNode}, {"r1", Distance::kSwitch}}), (Names{"r1"}));
}

TEST(ChooseRails, RailsWithoutPlaceWaitUntilNoOtherIsThere) {
  EXPECT_EQ(ChooseRails({{"r0", Distance::kUnknown}, {"r1", Distance::kSystem}}), (Names{"r1"}));
  EXPECT_EQ(ChooseRails({{"r0", Distance::kUnknown}, {"r1", Distance::kUnknown}}),
            (Names{"r0", "r1"}));
  EXPECT_EQ(ChooseRails({}), Names{});
}

TEST(Distance, HasAWeight) {
  EXPECT_EQ(Weight(Distance::kSwitch), 1u);
  EXPECT_EQ(Weight(Distance::kNode), 5u);
  EXPECT_EQ(Weight(Distance::kSystem), 10u);
  EXPECT_EQ(Weight(Distance::kUnknown), 10u);
}

}  // namespace
}  // namespace tapedeck::dataplane::topology
