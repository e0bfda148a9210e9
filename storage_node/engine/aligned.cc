#include "storage_node/engine/aligned.h"

#include "absl/strings/str_cat.h"
#include "services/errors.h"

namespace tapedeck::storage_node::engine {

absl::StatusOr<std::span<std::byte>> AlignedPayload(dataplane::Block& block,
                                                    const std::string& where) {
  const size_t bytes = AlignUp(block.payload().size());
  const std::span<std::byte> memory = block.memory();
  if (bytes <= memory.size() && reinterpret_cast<uintptr_t>(memory.data()) % kAlignment == 0) {
    return memory.first(bytes);
  }
  return services::WithReason(
      absl::InternalError(absl::StrCat("O_DIRECT on ", where, ": a slot of ", memory.size(),
                                       " bytes is not aligned to ", kAlignment)),
      "STORE_IO", {{"operation", "O_DIRECT"}});
}

}  // namespace tapedeck::storage_node::engine
