#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "services/base/errors.h"
#include "services/model/channel.h"
#include "services/model/lun.h"

namespace tapedeck::services::model {
namespace {

Channel AChannel() {
  return {.name = "luns/l/channels/c",
          .block_bytes = kMinBlockBytes,
          .datatype = "cf32_le",
          .sample_rate = 1e6,
          .move_to = "luns/deep",
          .move_after_ns = kMinMoveAfterNs};
}

// The field that the status, ARGUMENT_INVALID, is about; empty: it is another.
std::string FieldOf(const absl::Status& status) {
  const auto reason = ReasonOf(status);
  return reason.has_value() && reason->reason == "ARGUMENT_INVALID" ? reason->metadata.at("field")
                                                                    : "";
}

// Of each field that is a duration, whatever it is for, and of none beside it.
template <typename Struct>
void ExpectBounds(const Struct& good, absl::Status (*check)(const Struct&)) {
  EXPECT_TRUE(check(good).ok()) << check(good);
  int durations = 0;
  ForEachField<Struct>([&](const auto& field) {
    if (field.unit != Unit::kDuration) return;
    if constexpr (std::is_same_v<std::decay_t<decltype(good.*field.member)>, int64_t>) {
      ++durations;
      for (const int64_t ns : {int64_t{-1}, kMaxDurationNs + 1'000'000'000}) {
        Struct bad = good;
        bad.*field.member = ns;
        const absl::Status status = check(bad);
        EXPECT_EQ(FieldOf(status), field.name) << status;
      }
    }
  });
  EXPECT_GT(durations, 0);
}

TEST(BoundsTest, EachDurationHasThem) {
  ExpectBounds<Channel>(AChannel(), CheckChannel);
  ExpectBounds<Lun>({.name = "luns/l", .store = "posix", .members = {"/a"}}, CheckLun);
}

TEST(BoundsTest, NumbersAndListsHaveThoseOfTheirField) {
  Lun lun{.name = "luns/l", .store = "posix", .max_fill_percent = 100};
  lun.members.resize(kMaxMembers, "/a");
  EXPECT_TRUE(CheckLun(lun).ok()) << CheckLun(lun);
  Lun fuller = lun;
  fuller.max_fill_percent = 101;
  EXPECT_EQ(FieldOf(CheckLun(fuller)), "max_fill_percent");
  lun.members.emplace_back("/b");
  EXPECT_EQ(FieldOf(CheckLun(lun)), "members");
}

}  // namespace
}  // namespace tapedeck::services::model
