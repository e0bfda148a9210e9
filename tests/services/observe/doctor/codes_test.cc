// One list: the table of the README is that of codes.h, and says which codes errors have as
// reasons.
#include "services/observe/doctor/codes.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "services/base/errors.h"
#include "services/observe/doctor/finding.h"
#include "tapedeck/v1/errors.pb.h"
#include "tests/shared_data.h"

namespace tapedeck::services::doctor {
namespace {

bool IsReason(const Code& code) {
  v1::ErrorReason reason;
  return v1::ErrorReason_Parse(absl::StrCat("ERROR_REASON_", code.name), &reason);
}

std::string RowOf(const Code& code) {
  return absl::StrCat("| `", code.name, "` | ", model::NameOf(code.severity), " | ",
                      IsReason(code) ? "yes" : "no", " | ", code.why, " | ", code.fix, " |");
}

TEST(DoctorCodesTest, ReadmeHasTheSameTable) {
  std::ifstream file(TreeFile("services/observe/doctor/README.md"));
  std::stringstream text;
  text << file.rdbuf();
  std::string rows, wanted;
  for (const absl::string_view line : absl::StrSplit(text.str(), '\n')) {
    const bool is_code = absl::StartsWith(line, "| `") && absl::StrContains(line, "` | ") &&
                         std::vector<std::string>(absl::StrSplit(line, '|')).size() == 7;
    if (is_code) absl::StrAppend(&rows, line, "\n");
  }
  for (const Code& code : kCodes) absl::StrAppend(&wanted, RowOf(code), "\n");
  EXPECT_EQ(rows, wanted);
}

TEST(DoctorCodesTest, AnErrorIsFoundUnderItsReason) {
  const absl::Status listed = WithReason(absl::ResourceExhaustedError("x"), "MEMLOCK_TOO_LOW", {});
  EXPECT_EQ(FoundError(listed, "RDMA_FAILED", "rail r0").code, "MEMLOCK_TOO_LOW");
  EXPECT_EQ(FoundError(listed, "RDMA_FAILED", "rail r0").what, "rail r0: x");
  const absl::Status other = WithReason(absl::NotFoundError("x"), "JOB_NOT_FOUND", {});
  EXPECT_EQ(FoundError(other, "RDMA_FAILED", "rail r0").code, "RDMA_FAILED");
  EXPECT_EQ(FoundError(absl::InternalError("x"), "RDMA_FAILED", "").code, "RDMA_FAILED");
}

}  // namespace
}  // namespace tapedeck::services::doctor
