// Copies that are made whole before they take the place of a damaged part (repair.h). One thread
// that may wait.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "services/copy/part_state.h"

namespace tapedeck::services::copying {

// luns/L/channels/C of a recording of it.
std::string ChannelOf(const std::string& recording);

// The drafts of the recording `whole`, an ID, that the node has in that channel.
absl::StatusOr<std::vector<Recording>> Drafts(const PartNode& node, const std::string& channel,
                                              const std::string& whole);
// Of them those that got to their end.
absl::StatusOr<std::vector<Recording>> FinishedDrafts(const PartNode& node,
                                                      const std::string& channel,
                                                      const std::string& whole);
// All that nobody writes any more.
absl::Status RemoveDrafts(const PartNode& node, const std::string& channel,
                          const std::string& whole);

// Deletes that recording alone: under its name another one may be by now, of a repair at the same
// time. FAILED_PRECONDITION (CHANNEL_IN_USE) then. It may be gone already; while it is played, also
// by a session of a repair that was broken off, this waits for 20 s.
absl::Status DeleteOnly(const PartNode& node, const Recording& recording);

}  // namespace tapedeck::services::copying
