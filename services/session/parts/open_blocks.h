// The blocks of a stream that are not done: which parts have them, and which may still get them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "dataplane/block/block.h"
#include "dataplane/block/shared_block.h"

namespace tapedeck::services::parts {

// Parts as bits, of which there are no more than model::kMaxParts.
using PartSet = uint32_t;

// On the executor of the sessions that have the blocks. A block belongs to the stream by its number
// there, whatever sequence a part's copy of it has.
class OpenBlocks {
 public:
  // Each block is to be in `copies` of the `parts`, never twice in one.
  OpenBlocks(size_t parts, uint32_t copies) : copies_(copies), queues_(parts) {}

  void Add(dataplane::Block block);

  // The lowest that the part lacks and that has too few copies.
  std::optional<uint64_t> NextFor(size_t part) const;
  bool MayGo(uint64_t number, size_t part) const { return queues_[part].contains(number); }

  // A copy for the part, which `*again` says is of a block that another one had and lost.
  dataplane::Block Lend(uint64_t number, size_t part, bool* again);
  // What became of it: it is on the part's node, or the part has lost it. No matter where the block
  // is done already without that part.
  void Acknowledge(uint64_t number, size_t part);
  void TakeBack(uint64_t number, size_t part);
  // The part is suspected not to give it: another part may get it meanwhile, if one lacks it.
  void Suspect(uint64_t number, size_t part);
  void Trust(uint64_t number, size_t part);

  struct Done {
    uint64_t number = 0;
    uint64_t bytes = 0;    // of payload
    bool too_few = false;  // it has fewer copies than it was to have
  };
  // Whether the block is done as long as only those parts are there: it has its copies; or every
  // copy that was lent, but for suspected ones, is acknowledged, one at least, and no part is there
  // that lacks it. It is forgotten then.
  std::optional<Done> Resolve(uint64_t number, PartSet present);
  // The same of all.
  std::vector<Done> ResolveAll(PartSet present);

  // The lowest that has too few copies, lent ones included.
  std::optional<uint64_t> FirstOwed() const;

 private:
  struct Open {
    std::shared_ptr<dataplane::SharedBlock> block;
    PartSet out = 0;
    PartSet suspected = 0;
    PartSet acknowledged = 0;
    bool again = false;
  };

  static PartSet HoldersOf(const Open& open) { return open.out | open.acknowledged; }
  bool IsOwed(const Open& open) const;
  // Null: it is done.
  Open* Find(uint64_t number);
  // Puts it into the queues of those that may get it, and takes it out of the others'.
  void Queue(uint64_t number, const Open& open);

  const uint32_t copies_;
  std::map<uint64_t, Open> open_;
  std::vector<std::set<uint64_t>> queues_;  // of each part
};

}  // namespace tapedeck::services::parts
