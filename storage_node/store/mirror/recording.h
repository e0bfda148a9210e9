// A recording that both members have. Writes go to both. Reads come from the whole one. The other
// member has the data that the whole one has lost.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "storage_node/store/mailbox.h"
#include "storage_node/store/mirror/pair.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::store::mirror {

// Lives on the executor of its parts. Copies are numbered as members, but for those of blocks: 0
// is the one that is read first. An operation that a part fails ends well once the other member
// says durably that this one is behind; the part is left alone from then on.
class MirroredRecording final : public RecordingFiles {
 public:
  struct Part {
    std::shared_ptr<Store> store;
    std::unique_ptr<RecordingFiles> files;  // null: that member has nothing of it, or is left
    absl::Status why;                       // then
    Absent absent;                          // where that is marked already
  };
  using Parts = std::array<Part, kCopies>;

  // Purpose kWrite: it is new, or goes on; a scrub knows at once that a part of it was left.
  enum class Purpose { kRead, kWrite };
  MirroredRecording(std::shared_ptr<Pair> pair, Parts parts, Purpose purpose,
                    dataplane::Executor& executor);
  ~MirroredRecording() override { mailbox_->Close(); }

  void WriteBlock(format::Place place, dataplane::Block block, BlockDone done) override;
  bool ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                 BlockRead done) override {
    return ReadBlockCopy(0, place, bytes, ring, std::move(done));
  }
  uint32_t block_copies() const override;
  bool ReadBlockCopy(uint32_t copy, format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                     BlockRead done) override;
  void MendBlockCopy(uint32_t copy, format::Place place, dataplane::Block block,
                     BlockDone done) override;
  void Flush(Done done) override;
  void Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) override;
  uint32_t index_copies() const override { return kCopies; }
  void WriteIndex(uint32_t copy, uint64_t offset, Bytes bytes, Done done) override;
  void ReadIndex(uint32_t copy, uint64_t offset, size_t bytes, BytesRead done) override;
  void WriteManifest(std::string text, Done done) override;
  void ReadManifest(uint32_t copy, TextRead done) override;
  void OnLost(Done lost) override { lost_ = std::move(lost); }

 private:
  enum class Mark { kNone, kAsked, kThere, kFailed };
  // Of a member.
  struct Side {
    Part part;
    bool left = false;
    bool releasing = false;
    uint32_t under_way = 0;  // operations of the part
    Mark mark = Mark::kNone;
    absl::Status failure;                // of the mark
    std::vector<Done> waiting;           // for the mark
    bool has_manifest = false;           // written here, and so as good as the other's
    std::map<uint64_t, uint64_t> index;  // begin and end of what was written of it here
  };

  // Runs `start` on each part that is not left, and `done` once all of that counts.
  void OnBoth(absl::FunctionRef<void(uint32_t member, Done done)> start, Done done);
  void OnOne(uint32_t member, absl::FunctionRef<void(Done done)> start, Done done);
  // What to call when the part's operation has ended.
  Done Judged(uint32_t member, Done done);
  // The part is left alone from now on.
  void LeaveAlone(uint32_t member, const absl::Status& why);
  // Something is not done on it: `done` is told when that is marked.
  void Omit(uint32_t member, Done done);
  void OnMarked(uint32_t member, absl::StatusOr<Absent> absent);
  void Release(uint32_t member);
  // The members that can be read, the whole one first.
  std::vector<uint32_t> Readable() const;
  // Whether what the member says of the recording is believed; `written`: it was written here.
  bool Believed(uint32_t member, bool written) const;
  absl::Status NotBelieved(uint32_t member) const;
  // Whether the member has nothing of the recording, so that what the other one says counts.
  bool HasNothing(uint32_t member) const;
  void ReadIndexOf(uint32_t member, uint64_t offset, size_t bytes, BytesRead done);
  void ReadManifestOf(uint32_t member, TextRead done);
  void NoteIndex(uint32_t member, uint64_t begin, uint64_t end);
  bool HasIndex(uint32_t member, uint64_t begin, uint64_t end) const;

  template <typename Callback, typename Result>
  void Answer(Callback done, Result result) {
    executor_.Post(lifetime_.Guard([done = std::move(done), result = std::move(result)]() mutable {
      done(std::move(result));
    }));
  }

  const std::shared_ptr<Pair> pair_;
  const Purpose purpose_;
  dataplane::Executor& executor_;
  const std::shared_ptr<Mailbox> mailbox_;
  std::array<Side, kCopies> sides_;
  Done lost_;
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::storage_node::store::mirror
