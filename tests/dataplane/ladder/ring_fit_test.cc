#include "dataplane/ladder/ring_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/memory/host/memory.h"
#include "dataplane/memory/memory_pool.h"
#include "tests/dataplane/ladder/limited_rail.h"

namespace tapedeck::dataplane::ladder {
namespace {

using testing::HasSubstr;

constexpr size_t kSlotBytes = 64 << 10;

RingRequest Request(const LimitedRails& rails) {
  return {.rails = rails.transports(),
          .access = RemoteAccess::kRead,
          .slots = 64,
          .min_slots = 8,
          .make = [](size_t slots) -> absl::StatusOr<std::shared_ptr<SlotPool>> {
            return MemoryPool::Create(host::Create(slots * kSlotBytes).value(), kSlotBytes);
          }};
}

TEST(FitRing, RegistersAWholeRingOnceOnEachRail) {
  LimitedRails rails(2);
  const auto fitted = FitRing(Request(rails));
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_EQ(fitted->ring->slots(), 64u);
  EXPECT_EQ(fitted->warning, "");
  ASSERT_EQ(fitted->registration.domains.size(), 2u);
  EXPECT_EQ(fitted->registration.access, RemoteAccess::kRead);
  EXPECT_EQ(rails.locked.used, 2 * 64 * kSlotBytes);
  EXPECT_EQ(rails.rails[0]->domains, 1);
  EXPECT_EQ(fitted->registration.domains[1]->remote_window().bytes, 64 * kSlotBytes);
}

TEST(FitRing, HalvesUntilEveryRailHasItsOwn) {
  LimitedRails rails(2);
  rails.locked.limit = 65 * kSlotBytes;  // one rail would fit whole
  const auto fitted = FitRing(Request(rails));
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_EQ(fitted->ring->slots(), 32u);
  EXPECT_THAT(fitted->warning, HasSubstr("32 slots instead of 64"));
  EXPECT_THAT(fitted->warning, HasSubstr("4194304 bytes cannot be registered on 2 rail(s)"));
  EXPECT_THAT(fitted->warning, HasSubstr("ibv_reg_mr: 4194304 bytes must be locked"));
  EXPECT_EQ(rails.locked.used, 64 * kSlotBytes) << "the larger attempts are given back";
}

TEST(FitRing, AMemoryThatHasNoRoomIsAskedForLess) {
  LimitedRails rails(1);
  RingRequest request = Request(rails);
  request.make = [make = request.make](size_t slots) {
    return slots > 16 ? absl::ResourceExhaustedError("BAR1 has 256 MiB") : make(slots);
  };
  const auto fitted = FitRing(request);
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_EQ(fitted->ring->slots(), 16u);
  EXPECT_THAT(fitted->warning, HasSubstr("BAR1 has 256 MiB"));
}

TEST(FitRing, LeavesSomethingToSpareUntilItIsTheLeast) {
  LimitedRails rails(1);
  const auto spare = host::Create(kSpareBytes).value();
  RingRequest request = Request(rails);
  request.spare = spare->window();
  rails.locked.limit = 64 * kSlotBytes;  // the ring, and nothing else
  auto fitted = FitRing(request);
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_EQ(fitted->ring->slots(), 32u);
  EXPECT_EQ(rails.locked.used, 32 * kSlotBytes) << "the spare is given back";
  fitted = absl::UnknownError("");
  rails.locked.limit = 8 * kSlotBytes;
  fitted = FitRing(request);
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_EQ(fitted->ring->slots(), 8u);
}

TEST(FitRing, SaysWhatTheLeastRingWouldNeed) {
  LimitedRails rails(2);
  rails.locked.limit = 64 << 10;
  const absl::Status status = FitRing(Request(rails)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(
      std::string(status.message()),
      HasSubstr("the smallest, 8 slots on 2 rail(s), does not fit: ibv_reg_mr: 524288 bytes"));
  EXPECT_TRUE(status.GetPayload("reason").has_value());
  EXPECT_EQ(rails.locked.used, 0u);
}

TEST(FitRing, OtherErrorsAreNotACaseForLess) {
  LimitedRails rails(1);
  rails.rails[0]->refuse = [](const MemoryWindow&) { return absl::UnavailableError("port down"); };
  EXPECT_EQ(FitRing(Request(rails)).status(), absl::UnavailableError("port down"));
  EXPECT_EQ(rails.rails[0]->domains, 1);
}

TEST(FitRing, FewerSlotsThanTheLeastMayBeAskedFor) {
  LimitedRails rails(1);
  RingRequest request = Request(rails);
  request.slots = 4;
  EXPECT_EQ(FitRing(request)->ring->slots(), 4u);
}

}  // namespace
}  // namespace tapedeck::dataplane::ladder
