// What the values of a peer's messages must be: one function for each kind of message, used by both
// ends. INVALID_ARGUMENT (PROTOCOL_VIOLATION) names peer, message and field. Whether a message may
// come at this moment is for the state machines.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "services/model/recording/recording.h"
#include "services/model/seams/catalog.h"
#include "services/session/protocol/messages.h"

namespace tapedeck::services::session {

// What an end knows when a message comes.
struct Known {
  absl::string_view peer;         // "the worker"
  const Open* asked = nullptr;    // of the end that opened
  uint64_t block_bytes = 0;       // 0 before Accept
  std::optional<uint64_t> sent;   // blocks this end has sent; none: it receives
  uint64_t arrived = 0;           // every block below has arrived here
  std::optional<uint64_t> total;  // of an EndOfStream before this one
};

absl::Status CheckOpen(const Known& known, const Open& open);
absl::Status CheckAccept(const Known& known, const Accept& accept);
absl::Status CheckRailOffer(const Known& known, const RailOffer& offer);
absl::Status CheckEndOfStream(const Known& known, const EndOfStream& end);
absl::Status CheckProgress(const Known& known, const Progress& progress);
absl::Status CheckFinished(const Known& known, const Finished& finished);

// The one that fits.
absl::Status CheckMessage(const Known& known, const Message& message);

// What a storage node's answers about its channels and recordings must be before a worker believes
// them.
absl::Status CheckChannel(absl::string_view peer, const Channel& channel);
absl::Status CheckRecording(absl::string_view peer, const Recording& recording);

}  // namespace tapedeck::services::session
