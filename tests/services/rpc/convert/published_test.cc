// What clients find in messages beyond what survives the way to our structs and back.
#include <gtest/gtest.h>

#include "services/rpc/convert/explain.h"
#include "services/rpc/convert/jobs.h"
#include "services/rpc/convert/node.h"

namespace tapedeck::services::convert {
namespace {

TEST(PublishedTest, CountersAreThereEvenIfAllAreZero) {
  EXPECT_TRUE(ToProto(Job{.name = "jobs/1"}).has_counters());
  EXPECT_TRUE(ToProto(NodeStats{}).has_counters());
}

TEST(PublishedTest, AnExplanationHasItsTimeAndALoneStagesShareTwice) {
  const explain::Explanation explanation{.elapsed_s = 7,
                                         .stages = {{.name = "store", .share = 0.5},
                                                    {.name = "source",
                                                     .share = 0.1,
                                                     .thread = "pipeline thread",
                                                     .thread_share = 0.2}},
                                         .rails = {{.name = "rail r1", .share = 0.3}}};
  const v1::Explanation wire = ToProto(explanation, false);
  EXPECT_EQ(wire.elapsed_seconds(), 7);
  EXPECT_EQ(wire.stages(0).thread_share(), 0.5);
  EXPECT_EQ(wire.stages(1).thread_share(), 0.2);
  EXPECT_EQ(wire.rails(0).thread_share(), 0);
}

}  // namespace
}  // namespace tapedeck::services::convert
