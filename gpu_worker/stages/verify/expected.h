// What a recording must hold, computed again from its origin.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/block/block.h"
#include "gpu_worker/stages/kind.h"
#include "gpu_worker/stages/synth/source.h"
#include "gpu_worker/stages/verify/thread_team.h"
#include "services/signal/samples/reference_fft.h"

namespace tapedeck::gpu_worker::stages::verify {

using services::samples::Workspace;

// A transform of a recording or of its playback, computed again in double precision. Any thread.
class Step {
 public:
  virtual ~Step() = default;

  // So many samples are taken at a time, and so many given for them.
  virtual size_t granule() const = 0;
  virtual size_t granule_given() const = 0;
  // Samples without an imaginary part.
  virtual bool gives_real() const = 0;

  // Of whole granules; what is given lies at their beginning, real samples with imaginary parts of
  // 0.
  virtual void Apply(std::span<double> real, std::span<double> imaginary,
                     Workspace& workspace) const = 0;
};

// From what the origin says of the transform. Null: it cannot be computed again. INVALID_ARGUMENT
// (ARGUMENT_INVALID): they are damaged.
absl::StatusOr<std::unique_ptr<Step>> StepFor(const services::model::OriginStage& transform);

using services::samples::SplitComplex;

// Largest relative L2 difference of a transformed block from the double-precision reference.
// Single-precision FFTs of up to 65536 points stay below 5e-7.
inline constexpr double kFftTolerance = 1e-6;

// One thread, which others help.
class Expected {
 public:
  // Of a recording and what its playback makes of it. Null if that cannot be computed again (`why`
  // then says so); INVALID_ARGUMENT (ARGUMENT_INVALID) if the origin is damaged.
  static absl::StatusOr<std::unique_ptr<Expected>> For(const SinkSetup& place, services::Note* why);

  // OK, or what differs: the first sample that does. Without a transform every bit counts. At the
  // end of a second output the last transform is not compared. The
  // block is compared on all cores, part by part, and no longer read when the call returns.
  absl::Status Compare(const dataplane::BlockHeader& header, std::span<const std::byte> payload);

 private:
  using Steps = std::vector<std::unique_ptr<Step>>;
  // Of a block, and of the parts that it is compared in.
  struct Sizes {
    uint64_t block_bytes = 0;           // after the transforms
    uint64_t samples = 0;               // before them
    bool real = false;                  // rf32_le after them, else cf32_le
    uint64_t samples_for_recorded = 1;  // so many of synth's are one of the recording
    uint64_t granule = 1;               // before the transforms, of which it is whole ones
    uint64_t part_samples = 1;          // whole granules
    // Of the second output of a job, how many there are; 0: unknown. None: it is no such one.
    std::optional<uint64_t> blocks_beside;
  };
  // What one thread computes in.
  struct Scratch {
    std::vector<synth::Complex> made;
    SplitComplex parts{0};
    Workspace workspace;
  };
  // What came of a part.
  struct Found {
    // Without a transform: the first sample of the block that differs.
    std::optional<size_t> sample;
    synth::Complex got;
    synth::Complex made;
    // With one: squares of the L2 norms.
    double difference = 0;
    double power = 0;
  };

  struct Recorded {
    size_t steps = 0;           // the first so many were those of the recording
    uint64_t most_samples = 0;  // of a block before them
  };
  static absl::StatusOr<Sizes> SizesOf(const Steps& steps, uint64_t block_bytes,
                                       const Recorded& recorded);

  Expected(const synth::Waveform& waveform, const Sizes& sizes, Steps steps)
      : generator_(waveform), sizes_(sizes), steps_(std::move(steps)) {}
  void StartTeam();
  bool exact() const { return steps_.empty(); }
  // Whether the last transform of the block may have been made up with zeros, as a second output
  // ends where the first does.
  bool EndsMadeUp(const dataplane::BlockHeader& header) const;

  // A part that begins with that sample of the block, and of the recording, before the transforms;
  // `got` is what must come out of them. Any thread.
  Found Look(size_t first, uint64_t sample_index, size_t samples, std::span<const std::byte> got,
             Scratch& scratch) const;
  Found LookTransformed(std::span<const std::byte> got, size_t samples, Scratch& scratch) const;
  absl::Status JudgeExact(uint64_t sequence) const;
  absl::Status JudgeTransformed(uint64_t sequence) const;

  const synth::Generator generator_;
  const Sizes sizes_;
  const Steps steps_;
  std::vector<Found> found_;      // by part
  std::vector<Scratch> scratch_;  // by thread number
  std::unique_ptr<ThreadTeam> team_;
};

}  // namespace tapedeck::gpu_worker::stages::verify
