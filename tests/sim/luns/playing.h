// Plays a stored recording as a session would, and looks at what it gives as good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>

#include "absl/functional/function_ref.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/store.h"

namespace tapedeck::sim {

using IsRight = absl::FunctionRef<bool(uint64_t sequence, std::span<const std::byte> payload)>;

// The blocks given as good. A wrong one among them, or a damaged one, fails the test.
std::set<uint64_t> Play(storage_node::store::Store& store,
                        const storage_node::store::RecordingPath& path,
                        const storage_node::format::Manifest& manifest, IsRight is_right);

// The blocks that a closed recording says it holds.
std::set<uint64_t> BlocksOf(const storage_node::format::Manifest& manifest);

// What verifying a recording may find after a power cut: a block that is known to be missing, or a
// member whose directory of it was not durable yet.
void ExpectOfPowerCut(const services::DamagedBlock& damaged);

}  // namespace tapedeck::sim
