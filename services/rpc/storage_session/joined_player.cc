#include "services/rpc/storage_session/joined_player.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/datatype.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/recording/part.h"
#include "services/session/parts/host_copy.h"
#include "services/session/parts/reorder_window.h"
#include "services/session/protocol/stream_values.h"

namespace tapedeck::services::storage_session {

using dataplane::Block;
using dataplane::BlockHeader;

namespace {

bool IsMissing(const BlockHeader& header) { return (header.flags & dataplane::kBlockMissing) != 0; }

// Where the stream ends: one more than its last block, and the bytes of that.
struct StreamEnd {
  uint64_t blocks = 0;
  uint64_t last_bytes = 0;
};

// By the last blocks of a part: its highest is among them.
absl::Status AddEnd(const PeerPart& part, uint64_t block_samples, StreamEnd* end) {
  const Recording& recording = part.recording;
  const uint64_t looked_at = parts::ReorderWindowOf(recording.block_bytes) + 1;
  const uint64_t first = recording.blocks - std::min(recording.blocks, looked_at);
  TD_ASSIGN_OR_RETURN(const auto player, Player::Begin(part.peer, recording, first));
  while (true) {
    TD_ASSIGN_OR_RETURN(const std::optional<Block> block, player->Next());
    if (!block.has_value()) return absl::OkStatus();
    if (IsMissing(block->header())) continue;
    TD_ASSIGN_OR_RETURN(
        const uint64_t sequence,
        JoinedPlayer::SequenceOf(block->header(), block_samples, recording.block_bytes));
    if (sequence < end->blocks) continue;
    *end = {.blocks = sequence + 1, .last_bytes = block->payload().size()};
  }
}

}  // namespace

// Of a full block, by what is recorded where that is not what the channel says.
absl::StatusOr<uint64_t> JoinedPlayer::BlockSamples(const Recording& recording) {
  const std::string& name = model::SampleType(recording.origin, recording.datatype);
  const auto type = dataplane::ParseDatatype(name);
  if (!type.ok()) return DatatypeInvalid(name, type.status().message());
  return std::max<uint64_t>(recording.block_bytes / type->bytes_per_sample(), 1);
}

absl::StatusOr<uint64_t> JoinedPlayer::SequenceOf(const BlockHeader& header, uint64_t block_samples,
                                                  uint64_t block_bytes) {
  const uint64_t sequence = header.sample_index / block_samples;
  if (header.sample_index % block_samples == 0 && session::IsBlockCount(sequence, block_bytes)) {
    return sequence;
  }
  return ProtocolViolation({.message = "Block", .field = "sample_index"},
                           absl::StrCat("block ", header.sequence, " of a part begins at sample ",
                                        header.sample_index, ": no block of its stream does"));
}

absl::StatusOr<Recording> JoinedPlayer::Whole(const std::vector<PeerPart>& parts) {
  Recording whole = parts.front().recording;
  TD_ASSIGN_OR_RETURN(const uint64_t block_samples, BlockSamples(whole));
  StreamEnd end;
  std::string there;
  for (const PeerPart& part : parts) {
    if (part.recording.blocks > 0) TD_RETURN_IF_ERROR(AddEnd(part, block_samples, &end));
    absl::StrAppend(&there, " ", part.recording.uid);
    if (&part == &parts.front()) continue;
    whole.annotations.insert(whole.annotations.end(), part.recording.annotations.begin(),
                             part.recording.annotations.end());
    whole.open_time_ns = std::min(whole.open_time_ns, part.recording.open_time_ns);
    whole.start_time_ns = model::Earlier(whole.start_time_ns, part.recording.start_time_ns);
    whole.close_time_ns = std::max(whole.close_time_ns, part.recording.close_time_ns);
    if (part.recording.state == RecordingState::kSalvaged) whole.state = RecordingState::kSalvaged;
  }
  std::ranges::stable_sort(whole.annotations, {}, &Annotation::sample_start);
  whole.part.reset();
  whole.uid = absl::StrCat("parts", there);  // others that are there are another recording
  whole.blocks = end.blocks;
  whole.missing_blocks = 0;
  whole.durable_watermark = end.blocks;
  whole.bytes = end.blocks == 0 ? 0 : (end.blocks - 1) * whole.block_bytes + end.last_bytes;
  return whole;
}

JoinedPlayer::JoinedPlayer(uint64_t next, uint64_t block_bytes, uint64_t block_samples)
    : first_(next),
      next_(next),
      block_bytes_(block_bytes),
      block_samples_(block_samples),
      reorder_window_(parts::ReorderWindowOf(block_bytes)) {}

absl::StatusOr<std::unique_ptr<JoinedPlayer>> JoinedPlayer::Begin(
    const std::vector<PeerPart>& parts, uint64_t first_block) {
  const Recording& one = parts.front().recording;
  TD_ASSIGN_OR_RETURN(const uint64_t block_samples, BlockSamples(one));
  auto joined =
      std::unique_ptr<JoinedPlayer>(new JoinedPlayer(first_block, one.block_bytes, block_samples));
  // What a node finds by its sample may lie so far behind what it looks for.
  const uint64_t reorder_window = joined->reorder_window_;
  const uint64_t sample =
      first_block <= reorder_window ? 0 : (first_block - reorder_window) * block_samples;
  for (const PeerPart& part : parts) {
    Part& mine = joined->parts_.emplace_back();
    if (part.recording.blocks == 0) continue;
    TD_ASSIGN_OR_RETURN(mine.player, Player::BeginAtSample(part.peer, part.recording, sample));
  }
  return joined;
}

absl::StatusOr<std::optional<Block>> JoinedPlayer::Next() {
  while (true) {
    if (auto block = TakeNext()) return block;
    Part* const part = Behind();
    if (part != nullptr) {
      TD_RETURN_IF_ERROR(Read(*part));
      continue;
    }
    const bool more = std::ranges::any_of(parts_, [](const Part& p) { return !p.waiting.empty(); });
    if (!more) return std::nullopt;
    const uint64_t sequence = next_++;
    return Block::Missing({.sequence = sequence - first_,
                           .sample_index = sequence * block_samples_,
                           .flags = dataplane::kBlockMissing});
  }
}

std::optional<Block> JoinedPlayer::TakeNext() {
  for (Part& part : parts_) {
    auto found = part.waiting.extract(next_);
    if (found.empty()) continue;
    found.mapped().header().sequence = next_++ - first_;
    return std::move(found.mapped());
  }
  return std::nullopt;
}

JoinedPlayer::Part* JoinedPlayer::Behind() {
  Part* least = nullptr;
  for (Part& part : parts_) {
    if (part.player == nullptr || part.seen > next_ + reorder_window_) continue;
    if (least == nullptr || part.seen < least->seen) least = &part;
  }
  return least;
}

absl::Status JoinedPlayer::Read(Part& part) {
  TD_ASSIGN_OR_RETURN(std::optional<Block> block, part.player->Next());
  if (!block.has_value()) {
    part.player.reset();
    return absl::OkStatus();
  }
  if (IsMissing(block->header())) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const uint64_t sequence,
                      SequenceOf(block->header(), block_samples_, block_bytes_));
  part.seen = std::max(part.seen, sequence + 1);
  const bool there = std::ranges::any_of(
      parts_, [&](const Part& other) { return other.waiting.contains(sequence); });
  if (sequence < next_ || there) return absl::OkStatus();
  // The ring is for blocks that come, not for those that wait.
  part.waiting[sequence] = part.waiting.empty() ? *std::move(block) : parts::HostCopy::Of(*block);
  return absl::OkStatus();
}

}  // namespace tapedeck::services::storage_session
