// What is judged from both nodes' reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/observe/doctor/pair/report.h"

namespace tapedeck::services::doctor::pair {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

NodeReport Report(const std::string& role, const std::string& address) {
  return {.role = role,
          .protocol_version = 3,
          .rails = {{.name = "r0",
                     .transport = "tcp",
                     .address = address,
                     .prefix_bits = 24,
                     .mtu_bytes = 9000,
                     .bits_per_s = 25'000'000'000}},
          .clock = ClockOffset{.offset_ns = 1'000'000, .uncertainty_ns = 100'000}};
}

class DoctorPairTest : public ::testing::Test {
 protected:
  std::vector<std::string> Codes() const {
    std::vector<std::string> codes;
    for (const Finding& finding : CheckPair(storage_, worker_)) {
      EXPECT_EQ(finding.node, "pair");
      codes.push_back(finding.code);
    }
    return codes;
  }

  NodeReport storage_ = Report("storage", "10.0.0.1");
  NodeReport worker_ = Report("worker", "10.0.0.2");
};

TEST_F(DoctorPairTest, Healthy) { EXPECT_THAT(Codes(), IsEmpty()); }

TEST_F(DoctorPairTest, Versions) {
  worker_.protocol_version = 2;
  EXPECT_THAT(Codes(), ElementsAre("VERSION_MISMATCH"));
}

TEST_F(DoctorPairTest, RailsOfOneNodeAlone) {
  worker_.rails[0].transport = "verbs";
  EXPECT_THAT(Codes(), ElementsAre("RAIL_UNKNOWN", "RAIL_UNKNOWN"));
}

TEST_F(DoctorPairTest, Subnets) {
  worker_.rails[0].address = "10.0.1.2";
  EXPECT_THAT(Codes(), ElementsAre("RAIL_SUBNETS_DIFFER"));
  storage_.rails[0].prefix_bits = worker_.rails[0].prefix_bits = 23;
  EXPECT_THAT(Codes(), IsEmpty());
  worker_.rails[0].address = "fd00::1";
  EXPECT_THAT(Codes(), ElementsAre("RAIL_SUBNETS_DIFFER"));
  worker_.rails[0].prefix_bits = 0;  // nothing is known of it
  EXPECT_THAT(Codes(), IsEmpty());
}

TEST_F(DoctorPairTest, Ports) {
  worker_.rails[0].mtu_bytes = 1500;
  worker_.rails[0].bits_per_s = 10'000'000'000;
  EXPECT_THAT(Codes(), ElementsAre("PATH_MTU_MISMATCH", "RAIL_SPEEDS_DIFFER"));
  worker_.rails[0].mtu_bytes = 0;
  worker_.rails[0].bits_per_s = 0;
  EXPECT_THAT(Codes(), IsEmpty());
}

TEST_F(DoctorPairTest, ClocksDifferBeyondWhatIsUncertain) {
  worker_.clock = ClockOffset{.offset_ns = -80'000'000, .uncertainty_ns = 100'000};
  EXPECT_THAT(Codes(), ElementsAre("CLOCKS_DIFFER"));
  EXPECT_THAT(CheckPair(storage_, worker_)[0].what, HasSubstr("0.081 s behind"));
  worker_.clock->uncertainty_ns = 40'000'000;
  EXPECT_THAT(Codes(), IsEmpty());
  worker_.clock.reset();
  EXPECT_THAT(Codes(), IsEmpty());
}

TEST(DoctorClockTest, TheQuickestAnswerCounts) {
  // The second took 20 ns, in whose middle the node was 1000 ahead.
  const auto offset = OffsetOf({{0, 500, 9'000}, {600, 620, 1'610}, {700, 900, 5}});
  ASSERT_TRUE(offset.has_value());
  EXPECT_EQ(offset->offset_ns, 1'000);
  EXPECT_GE(offset->uncertainty_ns, 10);
  EXPECT_LE(offset->uncertainty_ns, 11);
  EXPECT_FALSE(OffsetOf({}).has_value());
}

// Whenever the node has read its clock between the two ends, the truth is within the uncertainty.
TEST(DoctorClockTest, TheUncertaintyHolds) {
  for (int64_t read_ns = 100; read_ns <= 200; ++read_ns) {
    const auto offset = OffsetOf({{100, 200, read_ns + 7'000}});
    EXPECT_LE(std::abs(offset->offset_ns - 7'000), offset->uncertainty_ns) << read_ns;
  }
}

}  // namespace
}  // namespace tapedeck::services::doctor::pair
