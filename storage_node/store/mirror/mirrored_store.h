// The store that is two. It does each operation on both members. If one member fails an operation,
// the store leaves that member behind (pair.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "services/model/seams/catalog.h"
#include "storage_node/format/behind.h"
#include "storage_node/store/copies.h"
#include "storage_node/store/kind.h"
#include "storage_node/store/mirror/pair.h"
#include "storage_node/store/mirror/recording.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store::mirror {

using Says = std::optional<format::Behind>;

// What the member says of the copies of this LUN. FAILED_PRECONDITION (MEMBER_UNUSABLE): that
// cannot be read.
absl::StatusOr<Says> SaysOf(const services::Lun& lun, const std::string& name, Store& store);

class MirroredStore final : public Store, public Recovery, public MemberFiles, public Copies {
 public:
  MirroredStore(const MemberStore& kind, services::Lun lun, std::shared_ptr<Pair> pair)
      : kind_(kind),
        pair_(std::move(pair)),
        layout_(Whole()->extras().layout),
        lun_(std::move(lun)) {}
  ~MirroredStore() override { pair_->Close(); }

  absl::StatusOr<std::unique_ptr<RecordingFiles>> Open(const RecordingPath& path,
                                                       const Opening& how,
                                                       dataplane::Executor& executor) override;
  absl::Status DeleteRecording(const RecordingPath& path) override;
  absl::Status BeginDeletion(const RecordingPath& path) override;
  absl::StatusOr<std::vector<RecordingPath>> BegunDeletions(const Known& known) override;
  absl::Status FinishDeletions(const Known& known) override;
  absl::StatusOr<std::vector<std::string>> UnknownChannels(const Known& known) override;
  absl::StatusOr<std::vector<RecordingPath>> ListRecordings(const Known& known) override;
  absl::Status Look() override;
  absl::Status Describe(const services::Lun& lun) override;
  void Prewrite(const services::Lun& lun) override;
  absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> MakeRing(const RingSpec& spec) override;
  Extras extras() override {
    return {.layout = layout_,
            .size_bytes = SmallestSize(),
            .recovery = this,
            .member_files = this,
            .copies = this};
  }

  std::shared_ptr<const CopyHealth> health() const override { return pair_; }
  std::vector<std::string> roots() const override;
  absl::StatusOr<std::vector<std::string>> RootsToWrite() override;
  uint64_t omissions() const override { return pair_->omissions(); }
  absl::Status Trust(uint64_t omissions, NowKnown known) override;

 private:
  using Files = absl::StatusOr<std::unique_ptr<RecordingFiles>>;
  Files Create(const RecordingPath& path, uint64_t block_bytes, dataplane::Executor& executor);
  Files OpenToRead(const RecordingPath& path, dataplane::Executor& executor);
  Files OpenToGoOn(const RecordingPath& path, dataplane::Executor& executor);
  Files OpenToMend(const RecordingPath& path, dataplane::Executor& executor);
  uint64_t SmallestSize() const;
  // Never null: while both are gone, the LUN is offline.
  std::shared_ptr<Store> Whole() const { return pair_->store(pair_->whole()); }
  // Those that are there.
  std::vector<std::shared_ptr<Store>> Present() const;
  services::Lun lun() const {
    absl::MutexLock lock(&mutex_);
    return lun_;
  }
  absl::Status Missing(uint32_t member) const;
  // Of `member`, which then may be written to; or, where it cannot be, what stands for it.
  absl::StatusOr<MirroredRecording::Part> CreatePart(uint32_t member, const RecordingPath& path,
                                                     uint64_t block_bytes,
                                                     dataplane::Executor& executor);
  absl::StatusOr<MirroredRecording::Parts> OpenParts(const RecordingPath& path, Purpose purpose,
                                                     dataplane::Executor& executor);
  // `what` is done on each; what fails on one is left there.
  absl::Status OnEach(absl::FunctionRef<absl::Status(Store&)> what);
  // Somebody had it deleted, and the member still has it.
  bool WasOrdered(uint32_t member, const RecordingPath& path);
  // Of what the believed copy has nothing of, the other one may have all: unless it was ordered to
  // go, what that says counts.
  bool StandsIn(uint32_t member, const RecordingPath& path);
  // Those of `known` that only a copy which is behind has, and that nobody ordered to go.
  absl::StatusOr<std::set<RecordingPath>> OnlyBehind(const Known& known);
  // What those list that are believed.
  template <typename Listed, typename List>
  absl::StatusOr<std::vector<Listed>> ListedBy(const List& list) const;
  absl::Status LookAt(uint32_t member);
  absl::Status TryToReturn(uint32_t member);
  absl::Status Purge(uint32_t member, NowKnown known);
  absl::StatusOr<std::set<RecordingPath>> OrderedDeletions(uint32_t member, const Known& known);
  // The member that is whole says so, if the other one may still have it.
  void NoteDeleted(const RecordingPath& path);

  const MemberStore kind_;
  const std::shared_ptr<Pair> pair_;
  const Layout layout_;  // of both
  mutable absl::Mutex mutex_;
  services::Lun lun_ ABSL_GUARDED_BY(mutex_);  // as it is now
};

}  // namespace tapedeck::storage_node::store::mirror
