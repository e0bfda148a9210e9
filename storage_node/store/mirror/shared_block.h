// One block that both members write, from its one slot.
#pragma once

#include <memory>
#include <utility>

#include "dataplane/block/block.h"

namespace tapedeck::storage_node::store::mirror {

// Held by shared_ptr: by whoever asked for the writes, and by each loan. Its slot is returned when
// the last of them has gone.
class SharedBlock : public std::enable_shared_from_this<SharedBlock> {
 public:
  // Zeros what of the slot follows the payload up to the next page, which members may write with
  // it: then none of them changes the slot.
  explicit SharedBlock(dataplane::Block block);

  // The same header and memory. Any thread may have it.
  dataplane::Block Lend();

  // The block itself, once no loan is left.
  dataplane::Block TakeBack() { return std::move(block_); }

 private:
  dataplane::Block block_;
};

}  // namespace tapedeck::storage_node::store::mirror
