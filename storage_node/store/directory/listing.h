// What lies on a member that is a directory: whose it is, as far as it says so itself or the
// catalog vouches for it. Changes nothing; waits for the disk. Any thread.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/store/directory/member.h"
#include "storage_node/store/known.h"

namespace tapedeck::storage_node::store::directory {

// No directory of ours has that name: there is none, or something else. Anything else is an error.
bool IsNotThere(const absl::Status& status);

// See Store::ListRecordings, BegunDeletions and UnknownChannels (store/store.h).
absl::StatusOr<std::vector<store::RecordingPath>> ListRecordings(const Member& member,
                                                                 const store::Known& known);
absl::StatusOr<std::vector<store::RecordingPath>> ListBegunDeletions(const Member& member,
                                                                     const store::Known& known);
absl::StatusOr<std::vector<std::string>> ListUnknownChannels(const Member& member,
                                                             const store::Known& known);

}  // namespace tapedeck::storage_node::store::directory
