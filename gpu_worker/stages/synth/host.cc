#include "gpu_worker/stages/synth/host/source.h"

#include "gpu_worker/stages/synth/signal.h"

namespace tapedeck::gpu_worker::stages::synth::host {
namespace {

class HostSource final : public SourceStage {
 public:
  explicit HostSource(const Waveform& waveform) : generator_(waveform) {}

  bool fills_host() const override { return false; }

  absl::StatusOr<Filled> Fill(const Slot& slot, device::Queue& /*queue*/) override {
    const size_t samples = slot.device.size() / sizeof(Complex);
    generator_.Make(slot.sequence * samples,
                    {reinterpret_cast<Complex*>(slot.device.data()), samples});
    return Filled{.bytes = samples * sizeof(Complex)};
  }

 private:
  const Generator generator_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SourceStage>> CreateSource(const Waveform& waveform,
                                                          device::Device& /*device*/) {
  return std::make_unique<HostSource>(waveform);
}

}  // namespace tapedeck::gpu_worker::stages::synth::host
