// Writes what the stages of a recording job report into its recording, or into its captures, as
// soon as they do: what it is about may be on the disk already, and the worker may be killed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "dataplane/deadline.h"
#include "gpu_worker/stages/stage_report.h"
#include "services/base/threads/task_thread.h"
#include "services/model/recording/recording.h"
#include "services/session/protocol/storage.h"

namespace tapedeck::gpu_worker::job {

// The marks of a stream of which a storage node keeps captures alone, and which capture has to have
// which of them. A value; one thread.
class CaptureMarks {
 public:
  // Samples of the stream.
  struct Extent {
    uint64_t first = 0;
    uint64_t end = 0;
    bool closed = false;  // no more samples come
  };
  struct Due {
    size_t mark = 0;
    services::Annotation annotation;
  };

  // The caller bounds how many.
  void Add(services::Annotation mark);

  // Marks for this capture that it was not given yet, each cut to the samples that the capture has.
  // A span waits until the capture has all of it or is closed. The first one may be the last
  // `signal` before the first sample, moved to that: it holds there, too.
  std::vector<Due> DueIn(const std::string& capture, const Extent& extent) const;
  void Given(const std::string& capture, const Due& due);
  // Nothing more is asked about it.
  void Forget(const std::string& capture) { given_.erase(capture); }

  size_t size() const { return marks_.size(); }
  // Marks that no capture was given.
  uint64_t unkept() const;

 private:
  struct Mark {
    services::Annotation annotation;
    bool kept = false;
  };

  // Of the signal that holds at a sample and began before.
  std::optional<size_t> StateAt(uint64_t sample) const;

  std::vector<Mark> marks_;
  std::map<std::string, std::set<size_t>> given_;  // by capture
};

// Any thread; owned by its job. The calls are made on a thread of its own, since they wait for the
// storage node. While that is away, or has no segment yet for a sample, they wait for the session
// to go on. What belongs to segments that are gone, or to samples that no capture has, is left out
// and counted. If the whole recording is gone, or a call fails otherwise, no other call is made.
class Annotator {
 public:
  // A session records all it gets, or captures of it alone.
  enum class Into { kRecording, kCaptures };

  // `storage` outlives it. RESOURCE_EXHAUSTED (LIMIT_REACHED) where there is no thread.
  static absl::StatusOr<std::unique_ptr<Annotator>> Create(
      std::shared_ptr<stages::StageReport> report, services::RecordingsClient& storage,
      Into into = Into::kRecording);
  // Waits for the call under way.
  ~Annotator();

  // A session runs into that recording, which stays the same; may be said again and again. An empty
  // name says nothing.
  void SessionRuns(const std::string& recording);
  // A session has made these captures, the newest ones; may be said again and again.
  void HasCaptures(const std::vector<std::string>& captures);

  // The session has ended: writes what there still is. It begins no call after half a minute, and
  // calls `done` on its thread with the first failure, and how many were left out.
  void Finish(std::function<void(const absl::Status& annotated, uint64_t left_out)> done);

 private:
  struct Capture {
    CaptureMarks::Extent extent;
    size_t looked_for = 0;  // so many marks, once it is closed
  };

  Annotator(std::shared_ptr<stages::StageReport> report, services::RecordingsClient& storage,
            Into into, std::shared_ptr<services::TaskQueue> tasks,
            std::unique_ptr<services::TaskThread> thread)
      : report_(std::move(report)),
        storage_(storage),
        into_(into),
        tasks_(std::move(tasks)),
        thread_(std::move(thread)) {}

  // The first time, and while some wait.
  void Begin(bool first, bool behind);

  // Its thread.
  void Write(stages::StageReport::Which which, dataplane::Deadline deadline);
  void WriteRecording(bool all, dataplane::Deadline deadline);
  void WriteCaptures(bool all, dataplane::Deadline deadline);
  void FallBehind();
  // Whether another call may begin.
  bool MayCall(bool all, dataplane::Deadline deadline) const;
  // The next ones. With `all` what no segment has yet is left out, too.
  absl::Status WriteSome(const std::string& recording, bool all, dataplane::Deadline deadline);
  // Asks which samples the capture has, unless that is known for good, and writes its marks.
  absl::Status WriteCapture(const std::string& name, Capture& capture, bool all,
                            dataplane::Deadline deadline);
  absl::Status Look(const std::string& name, CaptureMarks::Extent& extent);

  const std::shared_ptr<stages::StageReport> report_;
  services::RecordingsClient& storage_;
  const Into into_;
  const std::shared_ptr<services::TaskQueue> tasks_;

  std::atomic<bool> ending_ = false;  // what is written so far gives way to the rest, or to the end

  absl::Mutex mutex_;
  std::string recording_ ABSL_GUARDED_BY(mutex_);           // empty: not known yet
  std::vector<std::string> names_ ABSL_GUARDED_BY(mutex_);  // of the captures
  bool behind_ ABSL_GUARDED_BY(mutex_) = false;  // some wait for the storage node to be back

  // Its thread only.
  std::deque<services::Annotation> waiting_;  // bounded by what a report may hold
  CaptureMarks marks_;                        // likewise
  std::map<std::string, Capture> captures_;   // those that the session names
  uint64_t next_sample_ = 0;                  // of the first that waits; 0: from its first one on
  uint64_t left_out_ = 0;
  absl::Status status_;

  // The last: what tasks use is destroyed after it has ended.
  const std::unique_ptr<services::TaskThread> thread_;
};

}  // namespace tapedeck::gpu_worker::job
