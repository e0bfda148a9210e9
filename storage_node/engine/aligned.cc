#include "storage_node/engine/aligned.h"

#include "absl/strings/str_cat.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::engine {

absl::StatusOr<std::span<std::byte>> AlignedPayload(dataplane::Block& block,
                                                    const std::string& where) {
  const size_t bytes = AlignUp(block.payload().size());
  const std::span<std::byte> memory = block.memory();
  if (bytes <= memory.size() && reinterpret_cast<uintptr_t>(memory.data()) % kAlignment == 0) {
    return memory.first(bytes);
  }
  return disk::StoreIo(where, "O_DIRECT",
                       absl::StrCat("O_DIRECT on ", where, ": a slot of ", memory.size(),
                                    " bytes is not aligned to ", kAlignment));
}

}  // namespace tapedeck::storage_node::engine
