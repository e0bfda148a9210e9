// What the functions of errors.h put into an error.
#include "services/base/errors.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace tapedeck::services {
namespace {

using Metadata = std::map<std::string, std::string>;

Metadata MetadataOf(const absl::Status& status) { return ReasonOf(status)->metadata; }

TEST(ErrorsTest, CodeTextReasonAndMetadata) {
  const absl::Status status = LimitReached(64, "sessions", "no more than 64");
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "no more than 64");
  EXPECT_EQ(ReasonOf(status)->reason, "LIMIT_REACHED");
  EXPECT_EQ(MetadataOf(status), (Metadata{{"limit", "64"}, {"option", "sessions"}}));
}

TEST(ErrorsTest, WhatIsNotKnownIsLeftOut) {
  EXPECT_EQ(MetadataOf(BlockDamaged({.blocks = 2}, "")), (Metadata{{"blocks", "2"}}));
  EXPECT_EQ(MetadataOf(BlockDamaged({.recording = "r", .blocks = 2, .path = "p"}, "")),
            (Metadata{{"blocks", "2"}, {"path", "p"}, {"recording", "r"}}));
  EXPECT_EQ(MetadataOf(ProtocolViolation({.message = "Block"}, "")),
            (Metadata{{"message", "Block"}}));
  EXPECT_EQ(MetadataOf(JobCancelled()), Metadata{});
  EXPECT_EQ(MetadataOf(JobCancelled("jobs/1")), (Metadata{{"job", "jobs/1"}}));
}

TEST(ErrorsTest, AnotherCodeOrPrefixKeepsTheReason) {
  const absl::Status lost = PeerLost("s0", "gone");
  const absl::Status recoded = dataplane::Recoded(absl::StatusCode::kDataLoss, lost);
  EXPECT_EQ(recoded.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(recoded.message(), "gone");
  EXPECT_EQ(MetadataOf(recoded), MetadataOf(lost));
  const absl::Status prefixed = dataplane::Prefixed("job: ", lost);
  EXPECT_EQ(prefixed.message(), "job: gone");
  EXPECT_EQ(MetadataOf(prefixed), MetadataOf(lost));
}

}  // namespace
}  // namespace tapedeck::services
