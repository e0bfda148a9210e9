// What clients find in messages beyond what survives the way to our structs and back.
#include <gtest/gtest.h>

#include "services/rpc/convert/jobs.h"
#include "services/rpc/convert/node.h"

namespace tapedeck::services::convert {
namespace {

TEST(PublishedTest, CountersAreThereEvenIfAllAreZero) {
  EXPECT_TRUE(ToProto(Job{.name = "jobs/1"}).has_counters());
  EXPECT_TRUE(ToProto(NodeStats{}).has_counters());
}

}  // namespace
}  // namespace tapedeck::services::convert
