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
  // What a transform does.
  struct Step {
    std::vector<double> weights;  // empty: every one is 1
    ReferenceFft fft;
  };

  Expected(const synth::Waveform& waveform, uint64_t block_bytes);
  absl::Status CompareExact(uint64_t sequence, std::span<const synth::Complex> got) const;
  absl::Status CompareTransformed(uint64_t sequence, std::span<const synth::Complex> got);
  void Transform();

  const synth::Generator generator_;
  const size_t block_samples_;
  std::vector<Step> steps_;
  std::vector<synth::Complex> made_;
  std::vector<double> real_;
  std::vector<double> imaginary_;
};

}  // namespace tapedeck::gpu_worker::stages::verify
