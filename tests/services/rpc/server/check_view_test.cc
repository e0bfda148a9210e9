#include <gtest/gtest.h>

#include <string>

#include "services/base/errors.h"
#include "services/rpc/server/handlers/validate.h"

namespace tapedeck::services::server {
namespace {

constexpr char kRecording[] = "luns/l/channels/c/recordings/r";

// The field that is wrong; empty: none.
template <typename Request>
std::string Wrong(Request request) {
  request.recording = kRecording;
  const absl::Status status = CheckView(request);
  if (status.ok()) return "";
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(ReasonOf(status)->reason, "ARGUMENT_INVALID");
  return ReasonOf(status)->metadata.at("field");
}

TEST(CheckViewTest, ColumnsAreAPowerOfTwoAndRowsAreNotTooMany) {
  for (const uint32_t columns : {0u, 1u, 8u, 17u, 4095u, 8192u, UINT32_MAX}) {
    EXPECT_EQ(Wrong(SpectrogramRequest{.columns = columns, .rows = 1}), "columns") << columns;
  }
  for (const uint32_t rows : {0u, 2049u, UINT32_MAX}) {
    EXPECT_EQ(Wrong(SpectrogramRequest{.columns = 64, .rows = rows}), "rows") << rows;
  }
  EXPECT_EQ(Wrong(SpectrogramRequest{.columns = 16, .rows = 1}), "");
  EXPECT_EQ(Wrong(SpectrogramRequest{.columns = 4096, .rows = 2048}), "");
}

TEST(CheckViewTest, SamplesAndPointsAreNotTooMany) {
  for (const uint64_t count : {uint64_t{0}, uint64_t{65537}, UINT64_MAX}) {
    EXPECT_EQ(Wrong(SamplesRequest{.span = {.first = 0, .count = count}}), "sample_count");
  }
  EXPECT_EQ(Wrong(SamplesRequest{.span = {.first = 5, .count = 65536}}), "");
  for (const uint32_t points : {0u, 4097u}) {
    EXPECT_EQ(Wrong(EnvelopeRequest{.points = points}), "points");
  }
  EXPECT_EQ(Wrong(EnvelopeRequest{.points = 4096}), "");
}

TEST(CheckViewTest, ANameIsThatOfARecording) {
  SpectrogramRequest request{.recording = "luns/l", .columns = 64, .rows = 1};
  EXPECT_EQ(ReasonOf(CheckView(request))->reason, "NAME_INVALID");
}

}  // namespace
}  // namespace tapedeck::services::server
