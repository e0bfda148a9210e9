#include "services/copy/part_state.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/copy/copy.h"
#include "services/rpc/storage_session/joined_player.h"

namespace tapedeck::services::copying {

using storage_session::JoinedPlayer;

namespace {

// Without an index entry nothing says which block of the stream it is: then it is one that the part
// lacks.
bool HasPlace(model::DamageKind kind) {
  using enum model::DamageKind;
  return kind != kMissing && kind != kIndex && kind != kHeader && kind != kManifest;
}

// By the part's own numbers.
absl::StatusOr<std::set<uint64_t>> DamagedIn(const PartNode& node, const Recording& part,
                                             absl::Duration timeout) {
  std::set<uint64_t> damaged;
  TD_RETURN_IF_ERROR(
      node.catalog->VerifyRecording(part.name, timeout, [&](const VerifyProgress& progress) {
        for (const DamagedBlock& block : progress.damaged) {
          if (HasPlace(block.kind)) damaged.insert(block.sequence);
        }
      }));
  return damaged;
}

}  // namespace

absl::StatusOr<PartState> FindPart(const PartNode& node, const std::string& name) {
  const auto found = node.catalog->GetRecording(name);
  // What a copy is found under its name for is not the part.
  if (absl::IsNotFound(found.status()) || (found.ok() && found->name != name)) return PartState();
  TD_RETURN_IF_ERROR(found.status());
  const std::optional<model::Part>& part = found->part;
  if (!part.has_value()) {
    return ArgumentInvalid("recording", absl::StrCat(name, " is not part of a recording on ",
                                                     node.peer.address, ", but a whole one"));
  }
  if (found->state == RecordingState::kRecording && found->original.empty()) {
    return ChannelInUse(name, "is being recorded; repair it once it is closed");
  }
  return PartState{.recording = *found, .part = *part};
}

absl::Status ReadPart(const PartNode& node, absl::Duration timeout,
                      const std::function<bool(uint64_t bytes)>& progress, PartState* state) {
  const Recording& part = *state->recording;
  if (part.blocks == 0) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const std::set<uint64_t> damaged, DamagedIn(node, part, timeout));
  TD_ASSIGN_OR_RETURN(const uint64_t block_samples, JoinedPlayer::BlockSamples(part));
  TD_ASSIGN_OR_RETURN(const NextBlock next, Play(node.peer, part));
  const auto take = [&](const dataplane::Block& block) -> absl::Status {
    const dataplane::BlockHeader& header = block.header();
    const auto sequence = JoinedPlayer::SequenceOf(header, block_samples, part.block_bytes);
    if (!IsMissing(header)) {
      TD_RETURN_IF_ERROR(sequence.status());
      state->whole.Add(*sequence);
    } else if (sequence.ok()) {  // else not even its index can be read
      (damaged.contains(header.sequence) ? state->damaged : state->missing).Add(*sequence);
    }
    return absl::OkStatus();
  };
  Pace pace(
      [&](uint64_t done) { return progress(done) ? std::optional<uint64_t>(0) : std::nullopt; });
  TD_RETURN_IF_ERROR(PumpBlocks({.recording = part.name, .end = part.blocks}, next, take, pace));
  TD_ASSIGN_OR_RETURN(const std::optional<dataplane::Block> more, next());
  if (!more.has_value()) return absl::OkStatus();
  return RecordingBusy(part.name, model::NameOf(part.state),
                       absl::StrCat(part.name, " grew beyond its ", part.blocks,
                                    " blocks while it was read; repair it once it is closed"));
}

}  // namespace tapedeck::services::copying
