// What suites of recordings and playbacks share, with no network between. Once per device.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "dataplane/block/block.h"
#include "dataplane/clock.h"
#include "dataplane/crc/crc32c.h"
#include "tests/gpu_worker/device/devices.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/gpu_worker/pump.h"
#include "tests/scratch_file.h"

namespace tapedeck::gpu_worker {

inline std::string Counting(size_t bytes) {
  std::string out(bytes, '\0');
  std::iota(out.begin(), out.end(), '\1');
  return out;
}

inline std::string Joined(const std::vector<Pulled>& blocks) {
  std::string out;
  for (const Pulled& block : blocks) out += block.payload;
  return out;
}

// As of a sender that has made these very bytes: what checks arrivals finds nothing.
inline void SetCrc(dataplane::Block& block) {
  block.header().crc32c = dataplane::Crc32c(block.payload());
}

class PipelineTest : public DeviceTest {
 protected:
  absl::StatusOr<std::vector<Pulled>> RecordAll(const TestRecording& test) {
    auto recording = Record(choice_, test, clock_);
    if (!recording.ok()) return recording.status();
    expected_blocks_ = recording->expected_blocks;
    origin_ = recording->origin;
    return PullAll(*recording->source);
  }

  std::string FileOf(const std::string& bytes) {
    const std::string path = ScratchPath("input");
    WriteFile(path, bytes);
    return path;
  }

  absl::Status RecordAndPlay(const TestRecording& record, TestPlayback play,
                             const PumpOptions& options = {}) {
    auto recording = Record(choice_, record, clock_);
    if (!recording.ok()) return recording.status();
    play.origin = recording->origin;
    play.blocks = recording->expected_blocks;
    play.datatype = record.datatype;
    play.block_bytes = record.block_bytes;
    auto playback = Play(choice_, play);
    if (!playback.ok()) return playback.status();
    needs_order_ = playback->needs_order;
    const absl::Status status = Pump(*recording->source, *playback->sink, options);
    watermarks_ = playback->sink->watermarks();
    return status;
  }

  bool HasFft() {
    return Record(choice_, {.source = Synth(), .fft = 16, .blocks = 1}, clock_).ok();
  }

  const dataplane::SystemClock clock_{};
  uint64_t expected_blocks_ = 0;
  services::model::Origin origin_;
  bool needs_order_ = false;
  dataplane::Watermarks watermarks_;
};

}  // namespace tapedeck::gpu_worker
