#include "storage_node/node/playback.h"

#include <memory>
#include <utility>

#include "dataplane/status_macros.h"
#include "storage_node/node/recordings.h"
#include "storage_node/node/session_ring.h"
#include "storage_node/recording_reader.h"
#include "storage_node/seek.h"

namespace tapedeck::storage_node {
namespace {

using dataplane::TransferOp;
using services::session::Admission;
using services::session::Open;

// What is played, and what keeps it there. The LUN goes last: its store must outlive the files.
struct Playable {
  FoundRecording recording;
  std::shared_ptr<LiveRecording> live;  // null: it is closed
  std::unique_ptr<Leases::Lease> lease;

  // That can be read now.
  uint64_t blocks() const { return live == nullptr ? recording.manifest.blocks : live->written(); }
};

TransferOp OpOf(const Open& open, const services::Channel& channel) {
  if (open.op_chosen) return open.op;
  return channel.op_chosen ? channel.op : TransferOp::kWrite;
}

// Beside its writer, which keeps the recording from being deleted until this lease does. None if
// nobody writes it any more.
std::optional<Playable> FindGrowing(NodeParts& parts, const Open& open,
                                    const FoundRecording& found) {
  auto live = parts.live.Find(open.recording);
  if (live == nullptr) return std::nullopt;
  auto lease = parts.leases->TakeBeside(open.recording);
  if (lease == nullptr || live->closed() != nullptr) return std::nullopt;
  return Playable{.recording = found, .live = std::move(live), .lease = std::move(lease)};
}

absl::StatusOr<Playable> FindPlayable(NodeParts& parts, const Open& open) {
  TD_ASSIGN_OR_RETURN(FoundRecording found, FindRecording(parts, open.recording));
  if (open.playhead.follow) {
    auto growing = FindGrowing(parts, open, found);
    if (growing.has_value()) return *std::move(growing);
  }
  auto lease = parts.leases->TakeShared(open.recording);
  if (lease == nullptr) {
    return Busy(found,
                "is still being written (--follow plays it as it grows), or is being deleted");
  }
  // Only under the lease is it sure that it stays.
  TD_ASSIGN_OR_RETURN(found, FindRecording(parts, open.recording));
  if (found.manifest.state == services::RecordingState::kRecording) {
    return Busy(found, "was not closed yet; try again");
  }
  return Playable{.recording = std::move(found), .lease = std::move(lease)};
}

}  // namespace

absl::StatusOr<Admission> AdmitPlayback(NodeParts& parts, const Open& open,
                                        dataplane::Executor& executor) {
  TD_ASSIGN_OR_RETURN(Playable playable, FindPlayable(parts, open));
  const FoundRecording& found = playable.recording;
  const format::Manifest& manifest = found.manifest;
  TD_ASSIGN_OR_RETURN(const services::Channel channel, FindChannel(parts, found.name));
  TD_RETURN_IF_ERROR(CheckSlots(open, manifest.block_bytes));
  store::Store& store = *found.lun->store;
  TD_ASSIGN_OR_RETURN(const uint64_t first,
                      FindStart(store, found.path(), manifest, playable.blocks(), open.playhead,
                                *parts.settings.clock));
  const TransferOp op = OpOf(open, channel);
  TD_ASSIGN_OR_RETURN(auto fitted, MakeSessionRing(parts.settings, *found.lun, manifest.block_bytes,
                                                   /*playback=*/true, op));
  TD_ASSIGN_OR_RETURN(auto files, store.OpenRecording(found.path(), executor));
  Admission admission{.ring = fitted.ring,
                      .accept = {.recording = open.recording,
                                 .datatype = manifest.datatype,
                                 .sample_rate = manifest.sample_rate,
                                 .op = op,
                                 .commit = channel.commit,
                                 .block_bytes = manifest.block_bytes,
                                 .blocks = playable.live == nullptr ? manifest.blocks - first : 0,
                                 .first_block = first,
                                 .labels = manifest.labels},
                      .registration = std::move(fitted.registration)};
  ReaderOptions options{.name = open.recording,
                        .manifest = manifest,
                        .ring = std::move(fitted.ring),
                        .first = first,
                        .live = playable.live,
                        .behind_ns = open.playhead.behind_ns};
  // A memory store lends its blocks themselves.
  if (found.lun->config.store != services::StoreKind::kMemory) {
    options.follow_memory = parts.follow_memory;
  }
  options.lease = std::make_shared<Playable>(std::move(playable));
  admission.source =
      std::make_unique<RecordingReader>(std::move(options), std::move(files), executor);
  return admission;
}

}  // namespace tapedeck::storage_node
