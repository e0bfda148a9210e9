// One scrub: it reads the closed recordings of a LUN or channel, and repairs data that has a second
// copy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "services/copy/pace.h"
#include "services/model/seams/scrub.h"
#include "storage_node/recording/lun_meter.h"
#include "storage_node/recordings/recordings.h"
#include "storage_node/repair/repair_progress.h"
#include "storage_node/scrub/scrub_position.h"
#include "storage_node/scrub/whole_copies.h"

namespace tapedeck::storage_node::scrub {

// Running or ended. Any thread.
class ScrubRun {
 public:
  // Waits for the disk. `meter` is the LUN's; `repairing`, which all scrubs of the LUN share, is
  // held while part of an index is rewritten.
  ScrubRun(recordings::Recordings& recordings, std::shared_ptr<absl::Mutex> repairing,
           catalog::ResourceName scope, std::shared_ptr<recording::LunMeter> meter,
           const services::ScrubStart& start);

  // Once; until everything is read or it is stopped.
  void Work();

  void SetRate(uint64_t bytes_per_s);
  void AskToStop() {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  // Gives it up if it has got on with nothing for so long: it is stopped and says that its LUN does
  // not respond, and its thread ends once the disk answers. Does not wait.
  void GiveUpAfter(absl::Duration patience);
  // Until it has ended; false after 10 s.
  bool AwaitEnd() const;
  // InfiniteFuture while it runs.
  absl::Time end_time() const {
    absl::MutexLock lock(&mutex_);
    return end_time_;
  }
  services::Scrub state() const {
    absl::MutexLock lock(&mutex_);
    return scrub_;
  }

 private:
  absl::Status ReadAll();
  absl::Status ReadOne(const catalog::ResourceName& name);
  // What is gone of a recording's second copy is made again, empty; false: it is not there.
  bool MakeCopies(const recordings::FoundRecording& found);
  // The manifest and the index of a recording, before its blocks are read.
  absl::Status RepairOne(const recordings::FoundRecording& found, uint64_t first);
  // Looks in all of the LUN for the blocks whose bytes lie where others should.
  absl::Status NameOwners();
  void ConcludeCopies();
  void OnMended(const std::string& recording, const std::vector<repair::CopyDamage>& blocks);
  void TellOfRepair(const std::string& recording, int64_t began_ns, uint64_t damaged,
                    uint64_t repaired, const absl::Status& status);
  void Add(const std::string& recording, const services::DamagedBlock& block, bool repaired)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // False to stop.
  bool OnProgress(const std::string& recording, uint64_t block_bytes, uint64_t first,
                  const services::VerifyProgress& progress);
  bool Pace(uint64_t bytes) { return pace_.Wait(bytes).ok(); }
  // None once it is stopped.
  std::optional<uint64_t> RateNow();
  void Save(const ScrubPosition& position);

  recordings::Recordings& recordings_;
  const std::shared_ptr<absl::Mutex> repairing_;
  const catalog::ResourceName scope_;
  const std::shared_ptr<recording::LunMeter> meter_;
  ScrubPosition position_;  // on the thread
  services::telemetry::trace::Span span_;
  WholeCopies whole_;          // likewise
  uint64_t told_repairs_ = 0;  // as spans
  absl::Time saved_ = absl::InfinitePast();
  uint64_t checked_ = 0;  // of the recording, reported
  services::copying::Pace pace_{[this](uint64_t) { return RateNow(); }};

  mutable absl::Mutex mutex_;
  services::Scrub scrub_ ABSL_GUARDED_BY(mutex_);
  uint64_t rate_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  bool given_up_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time got_on_ ABSL_GUARDED_BY(mutex_);
  absl::Time end_time_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
};

}  // namespace tapedeck::storage_node::scrub
