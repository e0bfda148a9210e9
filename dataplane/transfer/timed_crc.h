// A PayloadCrc that knows how long its caller's thread was busy with it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "dataplane/clock.h"
#include "dataplane/payload_crc.h"

namespace tapedeck::dataplane {

// On one executor. What a device computes beside the thread is not counted.
class TimedCrc final : public PayloadCrc {
 public:
  // The clock outlives it.
  TimedCrc(std::shared_ptr<PayloadCrc> inner, const Clock& clock)
      : inner_(std::move(inner)), clock_(clock) {}

  void Compute(std::span<const std::byte> payload, Done done) override {
    const int64_t begun_ns = clock_.NowNs();
    inner_->Compute(payload, std::move(done));
    busy_ns_ += clock_.NowNs() - begun_ns;
  }
  int64_t busy_ns() const { return busy_ns_; }

 private:
  const std::shared_ptr<PayloadCrc> inner_;  // shared with whoever looks at what it computed
  const Clock& clock_;
  int64_t busy_ns_ = 0;
};

}  // namespace tapedeck::dataplane
