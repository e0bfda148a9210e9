// The Source of a playback session. It reads a recording ahead, checks every block against its
// index entry and gives the blocks in order. It gives damaged blocks as missing, never as data. To
// a player that takes damaged blocks it gives their good pieces. It follows a recording under way
// until that is closed, and reads from memory the blocks that are still there.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "dataplane/block/source.h"
#include "dataplane/executor/executor.h"
#include "dataplane/executor/lifetime.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/memory/slot_pool.h"
#include "storage_node/format/block_check.h"
#include "storage_node/format/manifest.h"
#include "storage_node/index/index_reader.h"
#include "storage_node/recording/hold.h"
#include "storage_node/recording/live_recording.h"
#include "storage_node/recording/lun_meter.h"
#include "storage_node/recording/reading/check_threads.h"
#include "storage_node/recording/reading/damage_log.h"
#include "storage_node/recording/reading/piece_reader.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::recording {

struct ReaderOptions {
  std::string name;  // of the recording, for errors and logs
  format::Manifest manifest;
  std::shared_ptr<dataplane::SlotPool> ring;  // the reader owns its waker
  uint64_t first = 0;                         // the block to begin with: it is given as number 0
  std::shared_ptr<LiveRecording> live;        // of a recording that is being written; else null
  int64_t behind_ns = 0;        // no block is given earlier than this after its capture
  bool damaged_blocks = false;  // gives what is good of them, else they are missing
  // For the tail of a followed recording; null: a follower reads files only.
  std::shared_ptr<follow::TailMemory> follow_memory;
  // The LUN's.
  std::shared_ptr<LunMeter> meter = std::make_shared<LunMeter>();
  // Check what was read; null: the reader's executor does.
  std::shared_ptr<CheckThreads> checks;
  // Held as long as the reader: the recording's lock and its LUN.
  std::shared_ptr<Hold> lease;
  // Of blocks as they are given.
  dataplane::flight::Trail trail;
};

// Owned by the session; lives on its executor.
class RecordingReader final : public dataplane::Source {
 public:
  // `files` live on `executor`.
  RecordingReader(ReaderOptions options, std::unique_ptr<store::RecordingFiles> files,
                  dataplane::Executor& executor);
  ~RecordingReader() override;

  // In order, except that a rejected block comes again as soon as it has been read. A reader that
  // has answered kEnd gives a block that is rejected later all the same.
  absl::StatusOr<dataplane::Flow> Pull(dataplane::Block* block) override;
  void SetWaker(dataplane::Waker waker) override { waker_ = std::move(waker); }
  void Acknowledge(uint64_t) override {}
  // Reads the block once more; DATA_LOSS (BLOCK_DAMAGED) the second time.
  absl::Status Reject(const dataplane::BlockHeader& header) override;

  uint64_t damaged_blocks() const { return damaged_.blocks(); }
  // Given from the tail of the recording that is followed.
  uint64_t blocks_from_memory() const { return blocks_from_memory_; }

 private:
  // How a block is got: one that is bad is read once more, then what is good of it, or nothing.
  enum class Way { kRead, kReadAgain, kPieces, kMissing };
  struct Request {
    uint64_t sequence = 0;
    Way way = Way::kRead;
    uint32_t copy = 0;      // of kReadAgain
    bool rejected = false;  // given before
  };

  // Starts reads as long as there is something to read and room for it.
  void Pump();
  // The recording has grown, or was closed.
  void OnGrown();
  // Of what can be read now.
  uint64_t end() const { return growing_ ? options_.live->written() : manifest_.blocks; }
  // True if the entry was read before it was written; then it is read again.
  bool ReadTooEarly(uint64_t sequence, const absl::Status& status);
  // Whether it is too early to give this block; then the waker is called in time.
  bool TooEarly(const dataplane::BlockHeader& header);
  bool Start(const Request& request);
  // The block from memory, if it is wanted for the first time and is there.
  std::shared_ptr<const dataplane::Block> FromTail(const Request& request);
  // Not checked here: its consumer checks the bytes against the CRC that came with the block and
  // was checked then. What it rejects is read from the files.
  bool StartCopy(const Request& request, const dataplane::Block& kept);
  bool StartMissing(const Request& request, const format::IndexEntry& entry);
  bool StartPieces(const Request& request, const format::IndexEntry& entry);
  void OnRead(const Request& request, const format::IndexEntry& entry,
              absl::StatusOr<dataplane::Block> block);
  void OnChecked(const Request& request, const format::IndexEntry& entry,
                 const format::Verdict& verdict, dataplane::Block block);
  void OnPieces(Request request, const format::IndexEntry& entry,
                std::optional<dataplane::Block> block);
  void OnNoEntry(const Request& request, const absl::Status& why);
  void OnDamaged(Request request, format::DamageKind kind, const std::string& detail);
  void Give(const Request& request, const dataplane::BlockHeader& header, dataplane::Block block);
  format::Place PlaceOf(uint64_t sequence) const;

  const ReaderOptions options_;
  dataplane::Executor& executor_;
  const std::unique_ptr<store::RecordingFiles> files_;
  format::Manifest manifest_;  // final once the recording is closed
  bool growing_;
  uint64_t follower_ = 0;                  // at options_.live
  std::optional<uint64_t> tail_follower_;  // at its tail
  std::optional<uint64_t> read_again_;
  bool waiting_ = false;  // until the next block may be given
  const format::EntryFormat entries_;
  index::IndexReader index_;
  PieceReader pieces_;
  DamageLog damaged_;
  dataplane::Waker waker_;
  const uint64_t ahead_;  // blocks read before they are wanted

  uint64_t next_read_;
  uint64_t next_give_;
  std::deque<Request> requests_;  // before next_read_: second tries and rejected blocks
  std::map<uint64_t, dataplane::Block> ready_;
  std::deque<dataplane::Block> ready_again_;
  std::set<uint64_t> rejected_;
  size_t rejected_open_ = 0;  // not given again yet
  uint64_t blocks_from_memory_ = 0;
  absl::Status error_;  // the member is gone, or not even a missing block can be given
  dataplane::Lifetime lifetime_;
};

}  // namespace tapedeck::storage_node::recording
