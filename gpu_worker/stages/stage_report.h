// What a stage has to say of its stream while a job runs: annotations of the recording, and at the
// end notes for the job. There may be more of them than a recording takes: the first are kept one
// by one, later ones are told of together.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/block/flow.h"
#include "services/model/recording/recording.h"
#include "services/model/words/note.h"

namespace tapedeck::gpu_worker::stages {

// Any thread. Shared by a stage and its job. Held by shared_ptr.
class StageReport {
 public:
  // So many annotations are kept one by one: each is a call, and a device LUN has room for some
  // 350.
  static constexpr uint64_t kMostAlone = 256;
  // Of those behind them so many become one, which spans them all and says in its comment how many
  // samples of its span are meant.
  static constexpr uint64_t kTogether = 4096;

  // `notes` tells what there is to be said so far; any thread.
  explicit StageReport(std::function<services::Notes()> notes) : notes_(std::move(notes)) {}

  // Another one, of a second recording, that gets all annotations as well, and has no notes. Before
  // the source runs.
  std::shared_ptr<StageReport> Second();

  // So many samples of the stream are one of the recording; before there is anything to take.
  void CountIn(uint64_t samples);

  // Called whenever there is something to take.
  void SetWaker(dataplane::Waker waker);

  // A sample, told of by itself whatever there is; who calls bounds how many.
  void Mark(const services::Annotation& annotation);

  // A span of samples; those of one label, which does not change, in order.
  void Annotate(const services::Annotation& annotation);

  enum class Which { kSoFar, kAll };
  // kAll: those too that would be told of together with later ones.
  std::vector<services::Annotation> Take(Which which);

  services::Notes Notes() const { return notes_(); }

 private:
  // Annotations that become one.
  struct Together {
    services::Annotation span;
    uint64_t samples = 0;  // of the recording
    uint64_t places = 0;
  };
  static services::Annotation Summary(const Together& together);
  // In samples of the recording: all that have any of its samples.
  services::Annotation Counted(services::Annotation annotation) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::function<services::Notes()> notes_;
  absl::Mutex mutex_;
  std::shared_ptr<StageReport> second_ ABSL_GUARDED_BY(mutex_);  // null: there is none
  dataplane::Waker waker_ ABSL_GUARDED_BY(mutex_);
  uint64_t samples_for_one_ ABSL_GUARDED_BY(mutex_) = 1;
  std::vector<services::Annotation> ready_ ABSL_GUARDED_BY(mutex_);
  std::optional<Together> together_ ABSL_GUARDED_BY(mutex_);
  uint64_t alone_ ABSL_GUARDED_BY(mutex_) = 0;  // so many were kept one by one
};

// The note of a verify sink that compares nothing. `cause` is one of those that
// CONTENT_NOT_COMPARED has in tapedeck/v1/notes.proto.
inline services::Note NotCompared(absl::string_view cause, absl::string_view why,
                                  std::map<std::string, std::string> facts = {}) {
  facts["cause"] = std::string(cause);
  return services::MakeNote("CONTENT_NOT_COMPARED", absl::StrCat("content not compared: ", why),
                            std::move(facts));
}

}  // namespace tapedeck::gpu_worker::stages
