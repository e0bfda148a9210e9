// A machine's clock for tests of its steps.
#pragma once

#include <atomic>
#include <cstdint>

#include "dataplane/clock.h"
#include "tests/storage_node/manual_executor.h"

namespace tapedeck::storage_node {

// The machine's clock is set, and time passes by both. It begins as the clock of sessions does, by
// which recordings end.
class SettableClock final : public dataplane::Clock {
 public:
  int64_t NowNs() const override { return system_.NowNs() + passed_ns; }
  int64_t WallNs() const override { return ManualClock::kStartNs + NowNs() - begun_ns_ + set_ns; }
  std::atomic<int64_t> set_ns = 0;
  std::atomic<int64_t> passed_ns = 0;

 private:
  const dataplane::SystemClock system_{};
  const int64_t begun_ns_ = system_.NowNs();
};

}  // namespace tapedeck::storage_node
