#include "storage_node/node/session_host.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "storage_node/node/playback.h"
#include "storage_node/node/recordings.h"
#include "storage_node/node/session_ring.h"
#include "storage_node/recording_writer.h"

namespace tapedeck::storage_node {
namespace {

using dataplane::TransferOp;
using dataplane::ladder::FittedRing;
using services::session::Admission;
using services::session::Open;

// Of one recording: beyond, bytes would no longer fit their counter.
constexpr uint64_t kMaxBlocks = uint64_t{1} << 40;

// What a session holds of the node. The LUN goes last: its store must outlive the files.
struct Held {
  std::shared_ptr<OpenLun> lun;
  std::unique_ptr<Leases::Lease> lease;
};

// A recording that says how long it will be is sure of that room: nobody else gets it until it
// ends. Refuses what cannot fit before anything is made.
absl::StatusOr<Reservation> ReserveRoom(const Open& open, const ResourceName& name,
                                        const std::shared_ptr<Capacity>& capacity,
                                        uint64_t block_bytes) {
  if (capacity->limit() == 0) return Reservation();
  const uint64_t blocks = std::min(open.expected_blocks, kMaxBlocks);
  if (blocks > 0) {
    auto all = Reservation::Make(capacity, blocks * block_bytes);
    if (all.has_value()) return *std::move(all);
  }
  // The last block may be partial.
  const uint64_t needed = blocks > 1 ? (blocks - 1) * block_bytes : 0;
  const uint64_t used = std::min(capacity->used(), capacity->limit());
  const uint64_t free = capacity->limit() - used;
  if (free > needed) {
    auto most = Reservation::Make(capacity, needed);
    if (most.has_value()) return *std::move(most);
  }
  return services::WithReason(
      absl::ResourceExhaustedError(absl::StrCat(
          name.lun_name(), " is full: needs more than ", needed, " bytes, ", free, " of ",
          capacity->limit(), " are free; not started. Delete recordings or use a larger LUN")),
      "LUN_FULL",
      {{"lun", name.lun},
       {"capacity_bytes", absl::StrCat(capacity->limit())},
       {"used_bytes", absl::StrCat(used)}});
}

TransferOp RecordOp(const Open& open, const services::Channel& channel) {
  if (open.op_chosen) return open.op;
  return channel.op_chosen ? channel.op : TransferOp::kRead;
}

}  // namespace

absl::StatusOr<Admission> RecordingHost::Admit(const Open& open, dataplane::Executor& executor) {
  if (open.direction == services::session::Direction::kRecord) return AdmitRecord(open, executor);
  return AdmitPlayback(parts_, open, executor);
}

format::Manifest RecordingHost::NewManifest(const Open& open, const OpenLun& lun,
                                            const ResourceName& name,
                                            const services::Channel& channel) {
  format::Manifest manifest{
      .id = name.recording,
      .members = std::max<uint32_t>(1, static_cast<uint32_t>(lun.config.members.size())),
      .block_bytes = channel.block_bytes,
      .datatype = channel.datatype,
      .sample_rate = channel.sample_rate,
      .op = RecordOp(open, channel),
      .commit = channel.commit,
      .labels = open.labels,
      .start_time_ns = parts_.settings.clock->WallNs()};
  if (!open.recorder.empty()) manifest.labels.emplace("recorder", open.recorder);
  // The uid was made by us or checked when the LUN was opened.
  manifest.identity = {.lun = format::Uuid::Parse(lun.config.uid).value_or(format::Uuid()),
                       .recording = format::Uuid::Make(parts_.settings.random),
                       .channel = name.channel,
                       .epoch = static_cast<uint32_t>(parts_.settings.random())};
  return manifest;
}

absl::StatusOr<Admission> RecordingHost::AdmitRecord(const Open& open,
                                                     dataplane::Executor& executor) {
  TD_ASSIGN_OR_RETURN(ResourceName name, ParseChannelName(open.channel));
  TD_RETURN_IF_ERROR(FindChannel(parts_, name).status());
  name.recording = NewRecordingId(parts_.settings.clock->WallNs(), parts_.settings.random);
  auto lease = parts_.leases->TakeExclusive(name.ToString());
  if (lease == nullptr) {
    return services::WithReason(
        absl::FailedPreconditionError(absl::StrCat(open.channel, " is being deleted")),
        "CHANNEL_IN_USE", {{"channel", open.channel}});
  }
  // Only under the lease is it sure that both stay.
  TD_ASSIGN_OR_RETURN(const services::Channel channel, FindChannel(parts_, name));
  TD_ASSIGN_OR_RETURN(auto lun, parts_.luns.Find(name.lun));
  TD_RETURN_IF_ERROR(CheckSlots(open, channel.block_bytes));
  TD_ASSIGN_OR_RETURN(Reservation room,
                      ReserveRoom(open, name, lun->capacity, channel.block_bytes));
  return StartRecording(
      {.manifest = NewManifest(open, *lun, name, channel),
       .name = name,
       .held = std::make_shared<Held>(Held{.lun = lun, .lease = std::move(lease)}),
       .lun = lun,
       .room = std::move(room)},
      executor);
}

absl::StatusOr<Admission> RecordingHost::StartRecording(NewRecording recording,
                                                        dataplane::Executor& executor) {
  auto& [manifest, name, held, lun, room] = recording;
  TD_ASSIGN_OR_RETURN(FittedRing fitted,
                      MakeSessionRing(parts_.settings, *lun, manifest.block_bytes,
                                      /*playback=*/false, manifest.op));
  const store::RecordingPath path{.channel = name.channel, .recording = name.recording};
  TD_ASSIGN_OR_RETURN(auto files,
                      lun->store->CreateRecording(path, manifest.block_bytes, executor));
  if (absl::Status status = parts_.catalog->PutRecording(name, manifest); !status.ok()) {
    files = nullptr;
    lun->store->DeleteRecording(path).IgnoreError();
    return status;
  }
  auto live = std::make_shared<LiveRecording>();
  parts_.live.Add(name.ToString(), live);
  const auto on_sealed = [catalog = parts_.catalog, lun = lun, path,
                          name = name](const format::Manifest& sealed) {
    // The files are the truth: start-up finds them as they are if the catalog's row is lost.
    if (sealed.blocks == 0 && !sealed.cause.empty()) {
      // The session failed before its first block: there is nothing to keep.
      lun->store->DeleteRecording(path).IgnoreError();
      catalog->DeleteRecording(name).IgnoreError();
    } else {
      catalog->PutRecording(name, sealed).IgnoreError();
    }
  };
  const size_t slots = fitted.ring->slots();
  const auto arrivals = std::make_shared<PieceCheck>(manifest.entries().piece_bytes);
  Admission admission{.ring = std::move(fitted.ring),
                      .accept = {.recording = name.ToString(),
                                 .datatype = manifest.datatype,
                                 .sample_rate = manifest.sample_rate,
                                 .op = manifest.op,
                                 .commit = manifest.commit,
                                 .block_bytes = manifest.block_bytes},
                      .payload_crc = arrivals,
                      .registration = std::move(fitted.registration)};
  admission.sink = std::make_unique<RecordingWriter>(WriterOptions{.name = name.ToString(),
                                                                   .manifest = manifest,
                                                                   .ring_slots = slots,
                                                                   .arrivals = arrivals,
                                                                   .capacity = lun->capacity,
                                                                   .reserved = std::move(room),
                                                                   .live = std::move(live),
                                                                   .on_sealed = on_sealed,
                                                                   .lease = std::move(held)},
                                                     std::move(files), executor);
  return admission;
}

}  // namespace tapedeck::storage_node
