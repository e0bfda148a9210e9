// A recording under way, as others see it: how far it is, and when it is closed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/block/block.h"
#include "dataplane/executor/timed_wait.h"
#include "services/model/recording/sample_time.h"
#include "services/session/transfer/session_stage_times.h"
#include "storage_node/follow/tail.h"
#include "storage_node/format/manifest.h"

namespace tapedeck::storage_node::recording {

// What others add to a recording while it is written.
struct Notes {
  std::vector<services::Annotation> annotations;
  bool kept = false;  // whatever the LUN's policy says
  services::RecordingUpdate described;
  uint64_t changes = 0;  // so many led to this
  size_t annotation_bytes = 0;
};

// Any thread. Shared by the writer and whoever looks.
class LiveRecording {
 public:
  // `notes` are those that it has already.
  explicit LiveRecording(uint64_t annotation_bytes = services::kMaxAnnotationBytes,
                         Notes notes = {})
      : max_annotation_bytes_(annotation_bytes), notes_(std::move(notes)) {}

  // For the catalog.
  std::atomic<uint64_t> blocks = 0;
  std::atomic<uint64_t> bytes = 0;
  std::atomic<uint64_t> missing_blocks = 0;
  std::atomic<uint64_t> durable = 0;
  // When the oldest block was written that is not known to be durable; 0: there is none.
  std::atomic<int64_t> waiting_since_ns = 0;

  // Of its first sample; none: not known, or not yet.
  services::model::SampleTime start_time_ns() const {
    const int64_t ns = start_ns_;
    return ns == dataplane::kTimeUnknown ? std::nullopt : std::optional(ns);
  }
  // By the writer.
  void SetStart(services::model::SampleTime ns) {
    start_ns_ = ns.value_or(dataplane::kTimeUnknown);
  }

  // For followers: the newest blocks.
  const std::shared_ptr<follow::Tail> tail = std::make_shared<follow::Tail>();

  // Every block below can be read from the recording's files.
  uint64_t written() const { return written_; }

  // What the recording was closed with; null while it is written. If the writer went without
  // closing it, that ends at the last block written.
  std::shared_ptr<const format::Manifest> closed() const {
    absl::MutexLock lock(&mutex_);
    return closed_;
  }

  // False if the recording has all the annotations that it may have.
  bool HasRoomFor(std::span<const services::Annotation> annotations) const {
    absl::MutexLock lock(&mutex_);
    return notes_.annotation_bytes + services::BytesOf(annotations) <= max_annotation_bytes_;
  }

  // These are false if the writer has begun to close the recording; Annotate also without room.
  bool Annotate(std::span<const services::Annotation> annotations) {
    absl::MutexLock lock(&mutex_);
    const size_t bytes = notes_.annotation_bytes + services::BytesOf(annotations);
    if (closing_ || bytes > max_annotation_bytes_) return false;
    notes_.annotation_bytes = bytes;
    notes_.annotations.insert(notes_.annotations.end(), annotations.begin(), annotations.end());
    TellWriter();
    return true;
  }
  bool Annotate(const services::Annotation& annotation) { return Annotate({&annotation, 1}); }
  bool Keep(bool kept) {
    absl::MutexLock lock(&mutex_);
    if (closing_) return false;
    notes_.kept = kept;
    TellWriter();
    return true;
  }
  // `check` gets `recording` as it would then be described; its error is the answer, and nothing is
  // noted. Others' notes wait meanwhile, so it only computes.
  using CheckDescribed = std::function<absl::Status(const services::Recording&)>;
  absl::StatusOr<bool> Describe(const services::RecordingUpdate& update,
                                const services::Recording& recording, const CheckDescribed& check) {
    absl::MutexLock lock(&mutex_);
    services::RecordingUpdate described = notes_.described;
    services::model::Merge(described, update);
    const services::Recording after = services::Updated(recording, described);
    absl::Status status = check(after);
    if (!status.ok()) return status;
    // However many labels came and went.
    if (services::model::NamesLabel(described)) {
      described.fields = {};
      described.Set(&services::Recording::description, after.description)
          .Set(&services::Recording::labels, after.labels);
    }
    if (closing_) return false;
    notes_.described = std::move(described);
    TellWriter();
    return true;
  }
  Notes notes() const {
    absl::MutexLock lock(&mutex_);
    return notes_;
  }
  bool kept() const {
    absl::MutexLock lock(&mutex_);
    return notes_.kept;
  }
  // The same recording with what has been noted, but for annotations.
  services::Recording Noted(services::Recording recording) const {
    absl::MutexLock lock(&mutex_);
    recording.kept = notes_.kept;
    return services::Updated(std::move(recording), notes_.described);
  }

  // Ends the session that writes it, if one still does: its worker has gone on to another one.
  void GiveWay() {
    absl::MutexLock lock(&mutex_);
    if (on_give_way_) on_give_way_();
  }

  // Waits until all notes so far are on the disk. False if they are not after 10 s, or never will
  // be, as the writer has gone without closing the recording. Not on the writer's executor.
  bool AwaitNoted() {
    absl::MutexLock lock(&mutex_);
    const uint64_t changes = notes_.changes;
    const auto settled = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return noted_ >= changes || closed_ != nullptr;
    };
    dataplane::AwaitFor(mutex_, absl::Condition(&settled), absl::Seconds(10));
    return noted_ >= changes;
  }

  // Waits until it is closed, or its writer has gone; false at the deadline. Not on the writer's
  // executor.
  bool AwaitClosed(dataplane::Deadline deadline) const {
    absl::MutexLock lock(&mutex_);
    const auto closed = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return closed_ != nullptr; };
    return dataplane::AwaitUntil(mutex_, absl::Condition(&closed), deadline);
  }

  // What the session has spent its time on since this recording began.
  services::StageTimes stage_times() const {
    absl::MutexLock lock(&mutex_);
    if (stages_ == nullptr) return {};
    return services::model::Since(stages_before_, stages_->latest());
  }

  // By the writer, when it begins, on the session's executor.
  void BeginStages(std::shared_ptr<services::session::SessionStageTimes> stages) {
    stages->Refresh();
    absl::MutexLock lock(&mutex_);
    stages_before_ = stages->latest();
    stages_ = std::move(stages);
  }
  // By the writer. `on_noted` only posts; null: no more notes are taken.
  void SetOnNoted(std::function<void()> on_noted) {
    absl::MutexLock lock(&mutex_);
    closing_ = on_noted == nullptr;
    on_noted_ = std::move(on_noted);
  }
  // By the writer. `on_give_way` only posts; null: it ends anyway.
  void SetOnGiveWay(std::function<void()> on_give_way) {
    absl::MutexLock lock(&mutex_);
    on_give_way_ = std::move(on_give_way);
  }
  // By the writer: as many changes are on the disk.
  void SetNoted(uint64_t changes) {
    absl::MutexLock lock(&mutex_);
    noted_ = changes;
  }
  void SetWritten(uint64_t watermark) {
    if (written_.exchange(watermark) != watermark) WakeFollowers();
  }
  void Close(format::Manifest manifest) {
    {
      absl::MutexLock lock(&mutex_);
      if (closed_ != nullptr) return;
      closed_ = std::make_shared<const format::Manifest>(std::move(manifest));
    }
    WakeFollowers();
  }

  // Calls `waker`, which only posts, whenever written() or closed() has changed, until Unfollow.
  uint64_t Follow(std::function<void()> waker) {
    absl::MutexLock lock(&mutex_);
    followers_.emplace(next_follower_, std::move(waker));
    return next_follower_++;
  }
  void Unfollow(uint64_t follower) {
    absl::MutexLock lock(&mutex_);
    followers_.erase(follower);
  }

 private:
  void TellWriter() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ++notes_.changes;
    if (on_noted_) on_noted_();
  }
  void WakeFollowers() {
    absl::MutexLock lock(&mutex_);
    for (const auto& [number, waker] : followers_) waker();
  }

  const uint64_t max_annotation_bytes_;
  std::atomic<uint64_t> written_ = 0;
  std::atomic<int64_t> start_ns_ = dataplane::kTimeUnknown;
  mutable absl::Mutex mutex_;
  Notes notes_ ABSL_GUARDED_BY(mutex_);
  uint64_t noted_ ABSL_GUARDED_BY(mutex_) = 0;  // changes that are on the disk
  std::function<void()> on_noted_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> on_give_way_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<const format::Manifest> closed_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<services::session::SessionStageTimes> stages_ ABSL_GUARDED_BY(mutex_);
  services::StageTimes stages_before_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, std::function<void()>> followers_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_follower_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tapedeck::storage_node::recording
