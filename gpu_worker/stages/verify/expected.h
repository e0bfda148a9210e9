// What a recording must hold, computed again from its labels.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/block.h"
#include "gpu_worker/stages/kind.h"
#include "gpu_worker/stages/synth/signal.h"
#include "gpu_worker/stages/verify/reference_fft.h"
#include "gpu_worker/stages/verify/step.h"

namespace tapedeck::gpu_worker::stages::verify {

// Largest relative L2 difference of a transformed block from the double-precision reference.
// Single-precision FFTs of up to 65536 points stay below 5e-7.
inline constexpr double kFftTolerance = 1e-6;

// One thread.
class Expected {
 public:
  // Of a recording and what its playback makes of it. Null if that cannot be computed again (`why`
  // then says so); INVALID_ARGUMENT (ARGUMENT_INVALID) if the labels are damaged.
  static absl::StatusOr<std::unique_ptr<Expected>> For(const SinkPlace& place, std::string* why);

  // OK, or what differs. Without a transform every bit counts.
  absl::Status Compare(const dataplane::BlockHeader& header, std::span<const std::byte> payload);

 private:
  // Of a block.
  struct Sizes {
    uint64_t block_bytes = 0;           // after the transforms
    uint64_t samples = 0;               // before them
    bool real = false;                  // rf32_le after them, else cf32_le
    uint64_t samples_for_recorded = 1;  // so many of synth's are one of the recording
  };
  using Steps = std::vector<std::unique_ptr<Step>>;

  // The first `recorded` of the steps were those of the recording.
  static absl::StatusOr<Sizes> SizesOf(const Steps& steps, uint64_t block_bytes, size_t recorded);

  Expected(const synth::Waveform& waveform, const Sizes& sizes, Steps steps);
  absl::Status CompareExact(uint64_t sequence, std::span<const synth::Complex> got) const;
  absl::Status CompareTransformed(uint64_t sequence, std::span<const std::byte> payload);
  // How many samples come out.
  size_t Transform();

  const synth::Generator generator_;
  const Sizes sizes_;
  const Steps steps_;
  std::vector<synth::Complex> made_;
  Parts parts_;
};

}  // namespace tapedeck::gpu_worker::stages::verify
