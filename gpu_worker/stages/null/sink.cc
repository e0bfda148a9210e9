#include "gpu_worker/stages/null/sink.h"

namespace tapedeck::gpu_worker::stages::null {
namespace {

class NullSink final : public SinkStage {
 public:
  bool reads_payload() const override { return false; }
  absl::Status Consume(const dataplane::BlockHeader& /*header*/,
                       std::span<const std::byte> /*payload*/) override {
    return absl::OkStatus();
  }
  absl::Status Close(const absl::Status& /*cause*/) override { return absl::OkStatus(); }
};

}  // namespace

std::unique_ptr<SinkStage> CreateSink() { return std::make_unique<NullSink>(); }

}  // namespace tapedeck::gpu_worker::stages::null
