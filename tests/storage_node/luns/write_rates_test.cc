// How fast a LUN is written to, on a clock of the test's.
#include "storage_node/luns/write_rates.h"

#include <gtest/gtest.h>

namespace tapedeck::storage_node::luns {
namespace {

class TestClock final : public dataplane::Clock {
 public:
  int64_t NowNs() const override { return now_ns; }
  int64_t WallNs() const override { return now_ns; }
  int64_t now_ns = 1;
};

class WriteRatesTest : public ::testing::Test {
 protected:
  WriteRatesTest() { luns_.Insert("l", lun_); }

  void Write(uint64_t bytes, int seconds) {
    for (int i = 0; i < seconds; ++i) {
      lun_->meter->written_bytes += bytes;
      clock_->now_ns += dataplane::kSecondNs;
      rates_.Look();
    }
  }
  double rate() const { return lun_->meter->bytes_per_s; }

  const std::shared_ptr<TestClock> clock_ = std::make_shared<TestClock>();
  Luns luns_{{.clock = clock_, .random = [] { return uint64_t{1}; }}};
  const std::shared_ptr<OpenLun> lun_ =
      std::make_shared<OpenLun>(OpenLun{.config = LunConfig(services::Lun())});
  WriteRates rates_{luns_};
};

TEST_F(WriteRatesTest, OverTheLastMinute) {
  rates_.Look();
  EXPECT_EQ(rate(), 0);
  Write(100, 10);
  EXPECT_DOUBLE_EQ(rate(), 100);
  Write(400, 10);
  EXPECT_DOUBLE_EQ(rate(), 250);
  Write(400, 60);
  EXPECT_DOUBLE_EQ(rate(), 400);
  Write(0, 60);
  EXPECT_DOUBLE_EQ(rate(), 0);
}

TEST_F(WriteRatesTest, ForgetsLunsThatAreGone) {
  Write(100, 2);
  luns_.Erase("l");
  rates_.Look();
  EXPECT_EQ(lun_->meter.use_count(), 1);
}

}  // namespace
}  // namespace tapedeck::storage_node::luns
