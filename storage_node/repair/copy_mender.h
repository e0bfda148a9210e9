// Mends blocks that two members have: it writes damaged or lost data of one again from the other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/clock.h"
#include "dataplane/memory/slot_pool.h"
#include "storage_node/format/block_check.h"
#include "storage_node/format/manifest.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/repair/repair_progress.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::repair {

// On the calling thread, which waits for the disk. What it is made of outlives it.
class CopyMender {
 public:
  using Judge = absl::FunctionRef<format::Verdict(const absl::StatusOr<dataplane::Block>& read)>;

  // `ring`: of two slots or more.
  CopyMender(recording::CallerLoop& loop, store::DataFiles& files, dataplane::SlotPool& ring)
      : loop_(loop), files_(files), ring_(ring) {}

  // Reads every copy of a block. What `judge` says of the best one; one that is worse is written.
  format::Verdict Check(uint64_t sequence, format::Place place, uint32_t bytes, Judge judge);

  // Makes durable what was written since, reads it back, and says what each ended with. `judge` as
  // above, of the block of that number.
  using JudgeOf = absl::FunctionRef<format::Verdict(uint64_t sequence,
                                                    const absl::StatusOr<dataplane::Block>& read)>;
  std::vector<CopyDamage> Settle(JudgeOf judge);

 private:
  struct Written {
    uint64_t sequence = 0;
    format::Place place;
    uint32_t bytes = 0;
    uint32_t copy = 0;
    format::Verdict found;  // before
    absl::Status end;
  };
  absl::StatusOr<dataplane::Block> Read(format::Place place, uint32_t bytes, uint32_t copy);

  recording::CallerLoop& loop_;
  store::DataFiles& files_;
  dataplane::SlotPool& ring_;
  std::vector<Written> written_;
};

// Gives back what a copy that was mended has beyond the end of a closed recording, such as what was
// reserved for more of it. Waits for the disk. Where the last block has no sound entry, nothing.
absl::Status TrimCopies(store::Store& store, const store::RecordingPath& path,
                        const format::Manifest& manifest, const dataplane::Clock& clock);

}  // namespace tapedeck::storage_node::repair
