#include "gpu_worker/stages/null/sink.h"

#include "dataplane/status_macros.h"
#include "gpu_worker/stages/parameters.h"

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

absl::StatusOr<Parameters> Parse(const services::StageParameters& given) {
  TD_RETURN_IF_ERROR(ParameterReader("null", given).Finish());
  return Parameters();
}

Description Describe(const Parameters& /*parameters*/) { return {}; }

absl::StatusOr<MadeSink> Create(const Parameters& /*parameters*/, const SinkSetup& /*place*/) {
  return MadeSink{.stage = std::make_unique<NullSink>()};
}

}  // namespace tapedeck::gpu_worker::stages::null
