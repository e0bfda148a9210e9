// Builds pipelines from job specs: what the Jobs implementation calls. Stages are named by the
// specs alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/clock.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/memory/slot_pool.h"
#include "gpu_worker/pace/plan.h"
#include "gpu_worker/pipeline/block_times.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "gpu_worker/pipeline/gpu_ring.h"
#include "gpu_worker/pipeline/playback_pipeline.h"
#include "gpu_worker/pipeline/record_pipeline.h"
#include "gpu_worker/pipeline/second_output.h"
#include "gpu_worker/stages/kind.h"
#include "services/base/files/file_roots.h"
#include "services/model/recording/recording.h"
#include "services/model/seams/jobs.h"
#include "services/model/words/note.h"
#include "services/rpc/identity/address_patterns.h"

namespace tapedeck::gpu_worker::pipeline {

// The stages of a job, their parameters read and found right.
struct RecordStages {
  stages::ChosenSource source;
  std::vector<stages::ChosenTransform> transforms;
  // Behind those, of a second output; none: there is no second output.
  std::optional<std::vector<stages::ChosenTransform>> second_output;
};
struct PlaybackStages {
  std::vector<stages::ChosenTransform> transforms;
  stages::ChosenSink sink;
};

// What a request can be refused for before anybody else is asked. INVALID_ARGUMENT
// (ARGUMENT_INVALID): the errors of stages/list.h; a source that does not end, without a limit; a
// transform that does not take what the one before it gives; one that triggers where nothing is
// triggered.
absl::StatusOr<RecordStages> ChooseStages(const services::RecordSpec& spec);
absl::StatusOr<PlaybackStages> ChooseStages(const services::PlaybackSpec& spec);

// As the storage node configured it.
struct ChannelSettings {
  std::string datatype;
  uint64_t block_bytes = 0;
  double sample_rate = 0;  // 0: unknown
};

// Where a second output goes.
struct SecondOutputSettings {
  ChannelSettings channel;
  std::string beside;                         // name of the channel of the first
  std::shared_ptr<dataplane::SlotPool> ring;  // of MakeRing on the same device, for it alone
};

// How many blocks are best made at once: several where small ones would have the device wait for
// the calls that enqueue them, and the stages take them so. For MakeRing.
size_t BlocksAtOnce(const RecordStages& stages, uint64_t block_bytes, const device::Device& device);

struct RecordSettings {
  RecordStages stages;
  services::RecordSpec spec;           // what the stages were chosen for
  SecondOutputSettings second_output;  // of a second output
  std::shared_ptr<pace::Meter> meter;  // gets the time of the first then
  ChannelSettings channel;
  services::files::FileRoots files;           // that the job may name
  const DeviceChoice* device = nullptr;       // outlives the pipeline
  std::shared_ptr<dataplane::SlotPool> ring;  // of MakeRing on that device, for this job alone
  const dataplane::Clock* clock = nullptr;    // of the session's executor
  dataplane::Executor* executor = nullptr;    // see RecordPlan
  dataplane::flight::Trail trail;
};

// A second output as its session needs it.
struct SecondRecording {
  std::unique_ptr<SecondOutputSource> source;
  services::model::Origin origin;
  uint64_t expected_blocks = 0;                 // at most; 0: unknown
  std::shared_ptr<stages::StageReport> report;  // as those of the first
};

struct Recording {
  std::unique_ptr<RecordPipeline> source;
  services::model::Origin origin;                // for the session's Open
  uint64_t expected_blocks = 0;                  // 0: unknown
  services::Notes notes;                         // for the job
  std::shared_ptr<stages::StageReport> report;   // of the source, while it runs; null: none
  std::optional<SecondRecording> second_output;  // none: there is no second output
};

// Errors: ARGUMENT_INVALID, DATATYPE_INVALID, BLOCK_SIZE_INVALID, and those of the stages. Opens
// the source; makes nothing before its SetWaker.
absl::StatusOr<Recording> CreateRecording(RecordSettings settings);

struct PlaybackSettings {
  PlaybackStages stages;
  ChannelSettings channel;                           // of the recording
  services::model::Origin origin;                    // of the recording
  std::vector<services::Annotation> annotations;     // of the recording
  uint64_t blocks = 0;                               // of the recording; 0 unknown
  services::files::FileRoots files;                  // that the job may name
  services::identity::AddressPatterns destinations;  // that the job may name
  const DeviceChoice* device = nullptr;
  bool direct = false;  // the job's ring lies in memory of the device
  dataplane::flight::Trail trail;
  std::optional<pace::Plan> pace;           // none: all blocks, as they come
  std::shared_ptr<const BlockTimes> times;  // null: blocks have their own
};

struct Playback {
  std::unique_ptr<PlaybackPipeline> sink;
  bool needs_order = false;     // blocks must be pushed in the order of their sequence
  bool damaged_blocks = false;  // of a damaged block, what is good is wanted
  services::Notes notes;
  std::shared_ptr<stages::StageReport> report;  // what the sink says at the end; null: nothing
  // Blocks that a sink compared with their source; null: it is not there to compare.
  std::shared_ptr<const std::atomic<uint64_t>> compared;
};

// Bytes of a sample of this datatype. INVALID_ARGUMENT (DATATYPE_INVALID).
absl::StatusOr<size_t> SampleBytesOf(const std::string& datatype);

// Same errors.
absl::StatusOr<Playback> CreatePlayback(PlaybackSettings settings);

}  // namespace tapedeck::gpu_worker::pipeline
