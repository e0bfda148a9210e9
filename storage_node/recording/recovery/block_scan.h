// Reads the index of a recording that nobody has closed, and finds out which of its blocks are
// whole.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/memory/slot_pool.h"
#include "storage_node/format/index.h"
#include "storage_node/format/manifest.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/recording/start_time.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::recording {

// Waits for the disk, on the calling thread; changes nothing. Reads the whole index, and the
// payload of what it names beyond the stored watermark.
class BlockScan {
 public:
  // `manifest` is in state RECORDING: what it lists as missing stays so. `files` and `ring`, which
  // holds one block, outlive it.
  BlockScan(CallerLoop& loop, store::RecordingFiles& files, dataplane::SlotPool& ring,
            const format::Manifest& manifest)
      : loop_(loop),
        files_(files),
        ring_(ring),
        identity_(manifest.identity),
        id_(manifest.id),
        members_(manifest.members),
        format_(manifest.entries()),
        settled_(manifest.missing),
        data_bytes_(manifest.members),
        start_(manifest) {}

  // DATA_LOSS if there are more gaps than a manifest may list; or what the disk says.
  absl::Status Run();

  // What it has found.
  const format::Watermark& watermark() const { return watermark_; }
  uint64_t blocks() const { return next_; }      // one more than the last that is there
  uint64_t bytes() const { return bytes_; }      // of payload there
  uint64_t corrupt() const { return corrupt_; }  // durable once, and damaged now
  uint64_t cut() const { return cut_; }          // written, but not whole
  uint64_t unread() const { return unread_; }    // there, although the disk did not give them
  // The data of a member may be another recording's: of what was read there, something is neither
  // zeros nor what its entry says, and nothing is what its entry says. Reused files hold what they
  // held before.
  bool is_strange() const;
  // One more than the last block that an entry speaks of, be it damaged.
  uint64_t spoken_of() const { return std::max(spoken_of_, next_); }
  int64_t last_capture_ns() const { return last_capture_ns_; }  // of the last that is there; or 0
  services::model::SampleTime start_time_ns() const { return start_.time_ns(); }
  const std::vector<format::SequenceRange>& absent() const { return absent_; }
  // On each member the end of all that an entry speaks of or that was durable.
  const std::vector<uint64_t>& data_bytes() const { return data_bytes_; }

 private:
  // False at the end of every copy.
  absl::StatusOr<bool> ScanChunk(uint64_t first);
  // Asked in order: nobody waited for that block any more. What is in its place is of no use.
  bool IsSettled(uint64_t sequence);
  void Judge(uint64_t sequence, const absl::StatusOr<format::IndexEntry>& entry);
  // Reads of each member the last block that was durable: beyond the watermark all are read.
  void LookAtDurable();
  // A payload that the disk does not give is kept: nobody knows that it is bad, and whoever plays
  // it finds out.
  bool PayloadIsGood(const format::IndexEntry& entry, format::Place place);
  format::Place PlaceOf(uint64_t sequence) const {
    return format::PlaceOf(sequence, format_.block_bytes, members_);
  }
  void Keep(const format::IndexEntry& entry);
  void KeepData(uint64_t sequence, uint64_t bytes);
  // Payload that was durable stays where the index has lost its entries; so does payload that is
  // not what its entry says, as it may be another block's.
  void KeepDoubtfulData();
  // All from next_ to `end` are absent.
  void Skip(uint64_t end) {
    if (end > next_) format::AppendRange(&absent_, {.first = next_, .count = end - next_});
    next_ = std::max(next_, end);
  }

  CallerLoop& loop_;
  store::RecordingFiles& files_;
  dataplane::SlotPool& ring_;
  const format::RecordingIdentity identity_;
  const std::string id_;
  const uint32_t members_;
  const format::EntryFormat format_;
  const std::vector<format::SequenceRange> settled_;
  size_t next_settled_ = 0;  // the first that does not end below what is judged
  std::vector<uint64_t> data_bytes_;
  std::map<uint32_t, format::IndexEntry> last_durable_;  // by member
  std::set<uint32_t> own_, strange_;  // members with payload that is what its entry says, or not
  StartTime start_;
  format::Watermark watermark_;
  std::vector<format::SequenceRange> absent_;  // below next_, in order
  uint64_t next_ = 0;
  uint64_t bytes_ = 0;
  uint64_t corrupt_ = 0;
  uint64_t cut_ = 0;
  uint64_t unread_ = 0;
  uint64_t spoken_of_ = 0;
  int64_t last_capture_ns_ = 0;
};

// Waits for the disk. The newest watermark that the copies of an index have; all zero where none
// has any.
format::Watermark StoredWatermark(CallerLoop& loop, store::RecordingFiles& files,
                                  const format::Manifest& manifest);

}  // namespace tapedeck::storage_node::recording
