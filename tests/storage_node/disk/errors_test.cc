// What the functions of errors.h put into an error.
#include "storage_node/disk/errors.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "services/base/errors.h"

namespace tapedeck::storage_node::disk {
namespace {

using Metadata = std::map<std::string, std::string>;

Metadata MetadataOf(const absl::Status& status) { return services::ReasonOf(status)->metadata; }

TEST(DiskErrors, LunsAreNamedByTheirIds) {
  EXPECT_EQ(MetadataOf(LunExists("luns/l0", "")), (Metadata{{"lun", "l0"}}));
  EXPECT_EQ(MetadataOf(LunExists("l0", "")), (Metadata{{"lun", "l0"}}));
}

TEST(DiskErrors, AFullOneSaysWhatIsKnown) {
  EXPECT_EQ(MetadataOf(LunFull("", 10, 9, "")),
            (Metadata{{"capacity_bytes", "10"}, {"used_bytes", "9"}}));
  EXPECT_EQ(MetadataOf(MemberFull("/m0", "")), (Metadata{{"member", "/m0"}}));
}

TEST(DiskErrors, TheMemberStandsBeforeWhatIsWrong) {
  const absl::Status status = Unusable("/m0", "not there", absl::StatusCode::kNotFound);
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "member /m0: not there");
  EXPECT_EQ(MetadataOf(status), (Metadata{{"member", "/m0"}}));
}

}  // namespace
}  // namespace tapedeck::storage_node::disk
