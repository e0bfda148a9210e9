#include "storage_node/catalog/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dataplane/datatype.h"
#include "services/model/words/resource_name.h"

namespace tapedeck::storage_node {
namespace {

TEST(Names, ParseOnlyTheirOwnKind) {
  const auto name = catalog::ParseRecordingName("luns/l/channels/c/recordings/r");
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(name->channel_name(), "luns/l/channels/c");
  EXPECT_EQ(name->ToString(), "luns/l/channels/c/recordings/r");
  for (const char* text : {"luns/l", "luns/l/channels/c", "luns/l/channels/c/recordings/",
                           "/luns/l/channels/c/recordings/r", "luns/l/channels/c/recordings/r/",
                           "luns/l/channels/../recordings/r", "luns/-/channels/c/recordings/r"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(catalog::ParseRecordingName(text).status())) << text;
  }
  EXPECT_TRUE(catalog::ParseChannelName("luns/-/channels/-", catalog::Wildcard::kAllowed).ok());
  EXPECT_FALSE(catalog::ParseChannelName("luns/-/channels/-").ok());
}

TEST(Names, RecordingIdsTellTheTime) {
  EXPECT_EQ(catalog::NewRecordingId(1'795'218'704'000'000'000, [] { return uint64_t{0xabcd3f2a}; }),
            "20261120T235144Z-3f2a");
  EXPECT_TRUE(services::CheckId(catalog::NewRecordingId(0, [] { return uint64_t{0}; })).ok());
}

TEST(Datatype, SigmfTypesAndTheirSizes) {
  const std::pair<const char*, size_t> sizes[] = {
      {"cf32_le", 8}, {"cf64_be", 16}, {"rf32_le", 4}, {"ci16_le", 4}, {"cu16_be", 4},
      {"ri32_le", 4}, {"cu32_le", 8},  {"ci8", 2},     {"cu8", 2},     {"ru8", 1}};
  for (const auto& [name, bytes] : sizes) {
    const auto type = dataplane::ParseDatatype(name);
    ASSERT_TRUE(type.ok()) << name;
    EXPECT_EQ(type->bytes_per_sample(), bytes) << name;
  }
  EXPECT_EQ(*dataplane::ParseDatatype("cu16_be"),
            (dataplane::Datatype{.complex = true,
                                 .kind = dataplane::Datatype::Kind::kUint,
                                 .bits = 16,
                                 .big_endian = true}));
  for (const char* name : {"", "cf32", "cu8_le", "xf32_le", "cf16_le", "CF32_LE", "cf32_le ",
                           "f32_le", "c_le", "ci24_le"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(dataplane::ParseDatatype(name).status())) << name;
  }
}

}  // namespace
}  // namespace tapedeck::storage_node
