// The Sink of a record session. It stores blocks in whatever order they come, group-commits them
// and seals the recording. The order is data, index, flush, watermark; format/README.md says what
// each watermark promises.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/block/sequence_mark.h"
#include "dataplane/block/sink.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/transfer/arrival_crcs.h"
#include "services/base/trace/span.h"
#include "services/session/transfer/session_stage_times.h"
#include "storage_node/format/manifest.h"
#include "storage_node/index/index_writer.h"
#include "storage_node/recording/hold.h"
#include "storage_node/recording/live_recording.h"
#include "storage_node/recording/lun_meter.h"
#include "storage_node/recording/sealer.h"
#include "storage_node/recording/writing/block_writer.h"
#include "storage_node/recording/writing/capacity.h"
#include "storage_node/recording/writing/group_commit.h"
#include "storage_node/recording/writing/open_manifest.h"
#include "storage_node/recording/writing/recording_space.h"
#include "storage_node/recording/writing/watermark_pages.h"
#include "storage_node/recording/writing/write_verifier.h"
#include "storage_node/recording/writing/writer_start.h"
#include "storage_node/recording/writing/writer_state.h"
#include "storage_node/recording/writing/written_blocks.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::recording {

struct WriterOptions {
  std::string name;           // of the recording, for errors and logs
  format::Manifest manifest;  // state RECORDING
  size_t ring_slots = 0;
  std::shared_ptr<dataplane::ArrivalCrcs> arrivals;  // has checked the blocks; null: nobody has
  // Shared with the LUN and the catalog.
  std::shared_ptr<Capacity> capacity;
  store::Layout layout;  // of the LUN's store: how the recording counts in `capacity`
  Reservation reserved;  // of `capacity`, for the first blocks
  std::shared_ptr<LiveRecording> live;
  // The LUN's.
  std::shared_ptr<LunMeter> meter = std::make_shared<LunMeter>();
  // Called once with the final manifest, when it is durable and the files are closed. The recording
  // counts as sealed once it has called `done`, on the writer's executor; null: at once.
  std::function<void(const format::Manifest&, std::function<void()> done)> on_sealed;
  services::telemetry::trace::Branch trace;  // of the session
  std::shared_ptr<WriteVerifier> verifier;   // renewed when a write or flush fails; may be null
  // The session's, for what its recordings keep of it.
  std::shared_ptr<services::session::SessionStageTimes> stages =
      std::make_shared<services::session::SessionStageTimes>();
  // Held until the recording is sealed or the writer gone: its lock and its LUN.
  std::shared_ptr<Hold> lease;
  dataplane::flight::Trail trail;
  WriterStart start;  // of a recording that goes on, whose `manifest` is Reopened; else of none
};

// Owned by the session; lives on its executor. Destroyed before it is sealed, it leaves the
// recording to recovery.
class RecordingWriter final : public dataplane::Sink {
 public:
  // `files` are fresh, or of a recording that goes on, and live on `executor`.
  RecordingWriter(WriterOptions options, std::unique_ptr<store::RecordingFiles> files,
                  dataplane::Executor& executor);
  ~RecordingWriter() override;

  // RESOURCE_EXHAUSTED (LUN_FULL): a block did not fit, and all before it are here or too late.
  // INTERNAL (STORE_IO). INVALID_ARGUMENT (PROTOCOL_VIOLATION): a payload the channel does not
  // allow.
  absl::StatusOr<dataplane::Flow> Push(dataplane::Block* block) override;
  // After an own failure the recording is salvaged too, and then the failure is returned unless
  // `cause` is one already. After a failed flush, or if closing fails, it is left to recovery.
  absl::StatusOr<dataplane::Flow> Finish(const absl::Status& cause) override;
  void EndEarly(const std::string& why) override { options_.manifest.cause = why; }
  void SetWaker(dataplane::Waker waker) override { waker_ = std::move(waker); }
  dataplane::Watermarks watermarks() const override;
  absl::Status status() const override { return state_.error(); }

 private:
  // Others may note things from now on, and another session may take the recording over.
  void OpenToOthers();
  format::IndexEntry EntryOf(const dataplane::Block& block) const;
  void EndWhereSpaceEnds();
  void OnBlockWritten(const format::IndexEntry& entry, const absl::Status& status);
  void OnIndexed(const std::vector<format::IndexEntry>& entries);
  void OnFlushed(const absl::Status& status);
  void OnManifestStored(const absl::Status& status);
  void Fail(const absl::Status& status);
  // To whoever looks at the recording meanwhile.
  void ShowWritten();
  // Another session of the same worker goes on with the recording.
  void GiveWay();
  void Wake();

  // Goes on with Finish when nothing is under way any more.
  void Advance();
  void LeaveToRecovery();
  // For followers, of what is not closed.
  format::Manifest AsWritten() const;
  SealPlan MakeSealPlan() const;
  void OnSealed(const format::Manifest& manifest, const absl::Status& status);
  // Whoever keeps the catalog knows of it.
  void Close(const format::Manifest& manifest);

  WriterOptions options_;
  dataplane::Executor& executor_;
  std::unique_ptr<store::RecordingFiles> files_;  // null once sealed
  const format::IndexHeader header_;              // as it began
  dataplane::Waker waker_;

  WriterState state_;
  dataplane::SequenceMark received_;
  WrittenBlocks written_;
  RecordingSpace space_;

  // They use files_ and end before it.
  OpenManifest manifest_;
  BlockWriter blocks_;
  index::IndexWriter index_;
  WatermarkPages watermark_pages_;
  GroupCommit commit_;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::storage_node::recording
