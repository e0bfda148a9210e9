#include "gpu_worker/pace/block_assembler.h"

#include <deque>
#include <memory>
#include <utility>

#include "gpu_worker/pace/assemblers.h"

namespace tapedeck::gpu_worker::pace {
namespace {

// All that come, as they are.
class WholeAssembler final : public BlockAssembler {
 public:
  explicit WholeAssembler(const SinkTraits& sink) : sink_(sink) {}

  absl::Status Add(Arrived arrived) override {
    CountLost(arrived.header);
    held_.push_back(std::move(arrived));
    return absl::OkStatus();
  }
  absl::Status End() override { return absl::OkStatus(); }
  bool sated() const override { return false; }

  const Piece* Next() override {
    if (held_.empty()) return nullptr;
    const Arrived& front = held_.front();
    const bool missing = (front.header.flags & dataplane::kBlockMissing) != 0;
    const size_t bytes = missing ? sink_.block_bytes : front.header.payload_bytes;
    piece_ = {.header = front.header,
              .payload = front.payload,
              .samples = bytes / sink_.sample_bytes,
              .ready_ns = front.ready_ns};
    return &piece_;
  }

  void Pop() override {
    held_.front().done();
    held_.pop_front();
  }

 private:
  const SinkTraits sink_;
  std::deque<Arrived> held_;
  Piece piece_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<BlockAssembler>> MakeAssembler(const Plan& plan,
                                                              const SinkTraits& sink) {
  if (plan.loop) return LoopAssembler::Create(plan, sink);
  if (plan.range.has_value()) return std::make_unique<RangeAssembler>(*plan.range, sink);
  return std::make_unique<WholeAssembler>(sink);
}

}  // namespace tapedeck::gpu_worker::pace
