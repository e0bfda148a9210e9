// What a user tells of a file wins over it, with a note.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/formats/io/reader.h"
#include "tests/services/formats/feed.h"
#include "tests/services/noted.h"

namespace tapedeck::services::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kStart = 1'704'164'645'500'000'000;

TEST(ToldTest, WhatTheFileDoesNotSay) {
  Content content{.bytes = 4};
  ASSERT_TRUE(
      Tell("f",
           {.datatype = "cu8", .sample_rate = 2.4e6, .frequency_hz = 433.92e6, .start_ns = kStart},
           &content)
          .ok());
  EXPECT_EQ(content.datatype, "cu8");
  EXPECT_EQ(content.sample_rate, 2.4e6);
  EXPECT_EQ(content.start_ns, kStart);
  EXPECT_THAT(content.annotations,
              ElementsAre(Annotation{.label = "signal", .comment = "frequency=433920000"}));
  EXPECT_THAT(content.notes, IsEmpty());
}

TEST(ToldTest, WhatTheFileSaysOtherwise) {
  Content content{.datatype = "cu8",
                  .sample_rate = 1e6 / 3,
                  .start_ns = 0,
                  .annotations = {{.sample_start = 5, .label = "signal", .comment = "gain=3"},
                                  {.label = "signal", .comment = "frequency=1e8 gain=3"}}};
  ASSERT_TRUE(
      Tell("f", {.sample_rate = 1e6, .frequency_hz = 2e8, .start_ns = kStart}, &content).ok());
  EXPECT_THAT(
      content.notes,
      ElementsAre(Noted("TOLD_OTHERWISE|what=sample_rate|file=333333.333333333|told=1000000"),
                  Noted("TOLD_OTHERWISE|what=frequency|file=100000000|told=200000000"),
                  Noted("TOLD_OTHERWISE|what=start|file=1970-01-01T00:00:00Z|"
                        "told=2024-01-02T03:04:05.5Z")));
  EXPECT_EQ(content.annotations[0].comment, "gain=3");
  EXPECT_THAT(content.annotations[1].comment, HasSubstr("frequency=200000000"));
  EXPECT_THAT(content.annotations[1].comment, HasSubstr("gain=3"));
  EXPECT_EQ(content.annotations.size(), 2u);
}

TEST(ToldTest, ItSaysTheSame) {
  Content content{.datatype = "cu8", .sample_rate = 1e6, .start_ns = kStart};
  const Content before = content;
  ASSERT_TRUE(
      Tell("f", {.datatype = "cu8", .sample_rate = 1e6, .start_ns = kStart}, &content).ok());
  EXPECT_THAT(content.notes, IsEmpty());
  ASSERT_TRUE(Tell("f", {}, &content).ok());
  EXPECT_EQ(content.sample_rate, before.sample_rate);
  EXPECT_EQ(content.start_ns, before.start_ns);
}

TEST(ToldTest, AnotherDatatypeIsRefused) {
  Content content{.datatype = "cu8"};
  const absl::Status status = Tell("f", {.datatype = "ci8"}, &content);
  EXPECT_EQ(ReasonIn(status), "FILE_INVALID");
  EXPECT_EQ(status.message(), "f holds cu8, not ci8");
}

}  // namespace
}  // namespace tapedeck::services::formats
