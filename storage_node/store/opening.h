// How a recording's files are opened.
#pragma once

#include <cstdint>

namespace tapedeck::storage_node::store {

// A kind that keeps a recording in one piece treats all but kCreate alike.
enum class Purpose {
  // To read what there is. NOT_FOUND.
  kRead,
  // A new recording. ALREADY_EXISTS.
  kCreate,
  // To record on at its end: all its files are there. NOT_FOUND.
  kGoOn,
  // As kRead, and any of its files may be gone, as another store may have them. Payload that is
  // gone reads as a file that ended (OUT_OF_RANGE), and is not written. NOT_FOUND: nothing is
  // there.
  kPieces,
  // As kRead, of a closed recording. What a member has lost and another has is first made again,
  // empty: a scrub then writes it.
  kMend,
};

struct Opening {
  Purpose purpose = Purpose::kRead;
  uint64_t block_bytes = 0;  // of kCreate: no block is larger
};
inline Opening ToCreate(uint64_t block_bytes) { return {Purpose::kCreate, block_bytes}; }

}  // namespace tapedeck::storage_node::store
