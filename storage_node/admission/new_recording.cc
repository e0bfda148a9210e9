#include "storage_node/admission/new_recording.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/copy/compatible.h"
#include "services/model/recording/part.h"
#include "services/model/words/description.h"
#include "storage_node/admission/prepared.h"
#include "storage_node/admission/session_ring.h"
#include "storage_node/disk/errors.h"
#include "storage_node/recordings/recordings.h"
#include "storage_node/recordings/retention.h"

namespace tapedeck::storage_node::admission {

using services::session::Open;

namespace {

constexpr uint64_t kSegmentsOfARing = 64;

// The source that an import names as its origin.
constexpr char kImport[] = "import";

// Names that are tried where something has them already.
constexpr int kNameTries = 8;
// Another session may take the room that was made in a ring.
constexpr int kRoundsOfRoom = 3;

// Of the labels and the origin, as a manifest has them.
uint64_t DescriptionBytes(const Open& open) {
  return services::model::WrittenBytes("", open.labels) +
         services::model::WrittenBytes(open.origin);
}

// Of the manifest: what all have, the labels as they are written, and whole pages.
uint64_t ManifestBytes(const RecordTarget& target) {
  const store::Layout layout = target.lun->store->extras().layout;
  if (!layout.counts_manifest) return 0;
  uint64_t bytes = 2048 + DescriptionBytes(target.open);
  if (const auto& original = target.open.original; original.has_value()) {
    for (const std::string& name : original->earlier) {
      bytes += services::model::WrittenBytes(name) + 3;
    }
  }
  const uint64_t steps = (bytes + layout.step_bytes - 1) / layout.step_bytes;
  return steps * layout.step_bytes * target.lun->config->striped_members();
}

// Of a session with so many blocks: in one recording or in segments.
uint64_t BytesOfSession(const RecordTarget& target, uint64_t blocks) {
  const uint64_t segment = target.segment_blocks;
  if (segment == 0 || blocks <= segment) return BytesOfOne(target, blocks);
  const uint64_t rest = blocks % segment == 0 ? 0 : BytesOfOne(target, blocks % segment);
  return blocks / segment * BytesOfOne(target, segment) + rest;
}

// Room for `bytes`, or none yet if they are not known: then `least` must be free.
std::optional<recording::Reservation> TakeRoom(const std::shared_ptr<recording::Capacity>& capacity,
                                               uint64_t bytes, uint64_t least) {
  if (bytes > 0) return recording::Reservation::Make(capacity, bytes);
  if (!recording::Reservation::Make(capacity, least).has_value()) return std::nullopt;
  return recording::Reservation();
}

absl::Status NoRoom(const luns::OpenLun& lun, uint64_t bytes) {
  const recording::Capacity& capacity = *lun.capacity;
  const uint64_t limit = capacity.limit();
  const uint64_t used = std::min(capacity.used(), limit);
  const bool ring = lun.config->full_policy == services::FullPolicy::kRing;
  const bool never = bytes > limit;
  const absl::Status full = disk::LunFull(
      lun.config->name, limit, used,
      absl::StrCat(lun.config->name, never ? ": needs " : " is full: needs ", bytes, " bytes, ",
                   limit - used, " of ", limit, " are free",
                   never  ? "; not started. Make the recording shorter or the LUN larger"
                   : ring ? " and all others are kept, written or played; tapectl keep --release "
                            "releases kept ones"
                          : "; not started. Delete recordings or make the LUN larger"));
  return never ? disk::Lacking(full, "capacity") : full;
}

// A recording that says how long it will be is sure of that room: nobody else gets it until it
// ends. Refuses what cannot fit before anything is made.
absl::StatusOr<recording::Reservation> RoomOf(NodeResources& resources,
                                              const RecordTarget& target) {
  if (!target.segment.has_value()) {
    return ReserveRoom(resources, target, target.open.expected_blocks);
  }
  const uint64_t blocks = target.segment_blocks;
  if (target.room != nullptr) return target.room->Split(BytesOfOne(target, blocks));
  return ReserveRoom(resources, target, blocks);
}

// The ID of what it is a copy of; empty: it is none, or that has another name than recordings have.
std::string IdOfOriginal(const Open& open) {
  if (!open.original.has_value()) return "";
  const auto name = catalog::ParseRecordingName(open.original->recording);
  return name.ok() ? name->recording : "";
}

// A part of a recording has the ID of the whole, as its worker says. Else one that no recording of
// the channel has, since many segments may begin in the same second: `wanted` if it is one.
absl::StatusOr<catalog::ResourceName> NewName(NodeResources& resources, const RecordTarget& target,
                                              std::string wanted) {
  catalog::ResourceName name = target.name;
  if (const auto& part = target.open.part; part.has_value()) {
    name.recording = part->whole;
    TD_ASSIGN_OR_RETURN(const auto taken, resources.recordings.catalog()->GetRecording(name));
    if (!taken.has_value()) return name;
    return services::ChannelInUse(
        target.channel.name,
        absl::StrCat("already has a part of recording ", part->whole, ": one node holds one part"));
  }
  const int64_t begin_ns = target.begin_ns.value_or(resources.luns.clock().WallNs());
  while (true) {
    const bool is_new = wanted.empty();
    name.recording = is_new ? catalog::NewRecordingId(begin_ns, resources.luns.random())
                            : std::exchange(wanted, "");
    const auto taken = resources.recordings.catalog()->GetRecording(name);
    // If the catalog cannot be read, a name that was asked for may be another recording's.
    if (taken.ok() ? !taken->has_value() : is_new) return name;
  }
}

format::Manifest NewManifest(NodeResources& resources, const RecordTarget& target,
                             const catalog::ResourceName& name) {
  const auto config = target.lun->config.now();
  const services::Lun& lun = *config;
  format::Manifest manifest{.id = name.recording,
                            .members = lun.striped_members(),
                            .block_bytes = target.channel.block_bytes,
                            .datatype = target.channel.datatype,
                            .sample_rate = target.channel.sample_rate,
                            .op = target.op,
                            .commit = target.channel.commit,
                            .labels = target.open.labels,
                            .origin = target.open.origin,
                            .group = target.open.group,
                            .part = target.open.part,
                            .resume_token = target.resume_token,
                            .open_time_ns = resources.luns.clock().WallNs()};
  if (const auto& original = target.open.original; original.has_value()) {
    manifest.original = original->recording;
    manifest.original_uid = original->uid;
    manifest.earlier_originals = original->earlier;
    manifest.open_time_ns = original->open_time_ns;
  }
  // A copy has its original's; nobody else says in whose name he records.
  if (!target.open.original.has_value() || manifest.origin.worker.empty()) {
    manifest.origin.worker = target.open.recorder;
  }
  if (target.segment.has_value()) {
    manifest.stream = target.stream.empty() ? name.recording : target.stream;
    manifest.segment = *target.segment;
    manifest.segment_blocks = target.segment_blocks;
  }
  // The uid was made by us or checked when the LUN was opened.
  manifest.identity = {.lun = format::Uuid::Parse(lun.recorded_uid()).value_or(format::Uuid()),
                       .recording = format::Uuid::Make(resources.luns.random()),
                       .channel = name.channel,
                       .epoch = static_cast<uint32_t>(resources.luns.random()())};
  return manifest;
}

absl::StatusOr<StartedRecording> Begin(NodeResources& resources, const RecordTarget& target,
                                       const std::string& id, dataplane::Executor& executor) {
  StartedRecording started;
  TD_ASSIGN_OR_RETURN(started.name, NewName(resources, target, id));
  started.held.lease = resources.recordings.leases().TakeExclusive(started.name.ToString());
  if (started.held.lease == nullptr) {
    return services::ChannelInUse(target.channel.name, "is being deleted");
  }
  // Only under the lease is it sure that both stay.
  TD_RETURN_IF_ERROR(resources.recordings.FindChannel(started.name).status());
  TD_ASSIGN_OR_RETURN(started.held.lun, resources.luns.Find(started.name.lun));
  started.manifest = NewManifest(resources, target, started.name);
  TD_RETURN_IF_ERROR(resources.recordings.catalog()->CheckTakes());
  // The row is the mark of files that have none themselves yet: after a crash they are known by it,
  // or by their own mark if it was not written.
  resources.recordings.catalog()->PutRecording(started.name, started.manifest);
  started.held.closing =
      std::make_shared<recordings::Closing>(resources.recordings.closer(), started.name.ToString());
  auto files =
      started.held.lun->store->Open(recordings::PathOf(started.name, started.manifest),
                                    store::ToCreate(started.manifest.block_bytes), executor);
  if (!files.ok()) {
    resources.recordings.catalog()->DeleteRecording(started.name);
    return files.status();
  }
  started.files = *std::move(files);
  return started;
}

// What lies under a name on a member may be nobody's recording: it stays, and another is tried.
absl::StatusOr<StartedRecording> BeginUnderNewName(NodeResources& resources,
                                                   const RecordTarget& target,
                                                   dataplane::Executor& executor) {
  std::string id = target.segment.has_value() ? "" : IdOfOriginal(target.open);
  for (int i = 1; i < kNameTries; ++i) {
    auto started = Begin(resources, target, std::exchange(id, ""), executor);
    if (!absl::IsAlreadyExists(started.status())) return started;
  }
  return Begin(resources, target, "", executor);
}

}  // namespace

uint64_t SegmentBlocks(const services::Channel& channel, const luns::LunTerms& lun) {
  uint64_t bytes = channel.segment_bytes;
  if (bytes == 0 && lun.config.full_policy == services::FullPolicy::kRing) {
    const uint64_t step = lun.layout.step_bytes * lun.members();
    bytes = lun.limit / kSegmentsOfARing;
    bytes = std::max<uint64_t>(1, bytes / step) * step;  // what lies beyond would be taken too
  }
  return bytes == 0 ? 0 : std::max(bytes / channel.block_bytes, kMinSegmentBlocks);
}

uint64_t BytesOfOne(const RecordTarget& target, uint64_t blocks) {
  return target.lun->footprint(target.channel.block_bytes).OfBlocks(blocks) + ManifestBytes(target);
}

absl::StatusOr<recording::Reservation> ReserveBytes(NodeResources& resources,
                                                    const RecordTarget& target, uint64_t bytes,
                                                    uint64_t least) {
  const auto& capacity = target.lun->capacity;
  if (capacity->limit() == 0) return recording::Reservation();
  if (auto room = TakeRoom(capacity, bytes, least)) return *std::move(room);
  const bool ring = target.lun->config->full_policy == services::FullPolicy::kRing;
  for (int round = 0; ring && round < kRoundsOfRoom; ++round) {
    TD_RETURN_IF_ERROR(recordings::MakeRoom(resources.recordings, target.name.lun, *target.lun,
                                            std::max(bytes, least)));
    if (auto room = TakeRoom(capacity, bytes, least)) return *std::move(room);
  }
  return NoRoom(*target.lun, std::max(bytes, least));
}

absl::StatusOr<recording::Reservation> ReserveRoom(NodeResources& resources,
                                                   const RecordTarget& target, uint64_t blocks) {
  const uint64_t bytes = blocks == 0 ? 0 : BytesOfSession(target, std::min(blocks, kMaxBlocks));
  return ReserveBytes(resources, target, bytes, BytesOfOne(target, 1));
}

absl::Status CheckPart(const RecordTarget& target) {
  if (!target.open.part.has_value()) return absl::OkStatus();
  const bool triggered =
      target.channel.triggered() && target.channel.commit == dataplane::CommitLevel::kReceived;
  if (target.segment_blocks == 0 && !triggered) return absl::OkStatus();
  return services::ChannelInUse(
      target.channel.name,
      triggered ? "is a triggered channel, which cannot be recorded in parts over several nodes"
                : "is recorded in segments, which cannot be in parts over several nodes");
}

// Of a LUN that deletes its oldest recordings above max_fill. `before`: bytes that do not go before
// this recording. A copy has its original's age, and so is among the first; of a move, the original
// is gone by then.
absl::Status CheckFill(const RecordTarget& target, uint64_t blocks, uint64_t before) {
  const uint64_t limit = recordings::FillLimit(*target.lun);
  const uint64_t bytes = target.lun->footprint(target.channel.block_bytes).OfBlocks(blocks);
  if (bytes <= limit && before <= limit - bytes) return absl::OkStatus();
  return services::ArgumentInvalid(
      "channel", absl::StrCat(target.name.lun_name(), " keeps at most ", limit,
                              " bytes (max_fill): the recording needs ", bytes, ", and ", before,
                              " bytes of others cannot be deleted first; raise --max-fill, release "
                              "recordings, or name a channel of another LUN"));
}

absl::Status CheckWhole(NodeResources& resources, const RecordTarget& target) {
  const bool copied = target.open.original.has_value();
  if (!copied && target.open.origin.source.name != kImport) return absl::OkStatus();
  const std::vector<services::Lun> luns = {*target.lun->config.now()};
  if (copied) TD_RETURN_IF_ERROR(services::copying::CheckIsNoRing(target.channel, luns));
  const uint64_t blocks = std::min(target.open.expected_blocks, kMaxBlocks);
  const bool ring = luns.front().full_policy == services::FullPolicy::kRing;
  const bool fills = luns.front().max_fill_percent > 0;
  uint64_t held = 0;
  if (ring || fills) {
    TD_ASSIGN_OR_RETURN(held,
                        recordings::HeldBytes(resources.recordings, target.name.lun, *target.lun));
  }
  if (fills && !ring) {
    const uint64_t before = copied ? target.lun->capacity->used() : held;
    TD_RETURN_IF_ERROR(CheckFill(target, blocks, before));
  }
  return services::copying::CheckKeeps(target.channel, luns, blocks * target.channel.block_bytes,
                                       held);
}

absl::StatusOr<RecordTarget> FindTarget(NodeResources& resources, const Open& open) {
  RecordTarget target{.open = open};
  TD_ASSIGN_OR_RETURN(target.name, catalog::ParseChannelName(open.channel));
  TD_ASSIGN_OR_RETURN(target.channel, resources.recordings.FindChannel(target.name));
  TD_ASSIGN_OR_RETURN(target.lun, resources.luns.Find(target.name.lun));
  if (const uint64_t room = target.lun->store->extras().layout.description_bytes;
      DescriptionBytes(open) > room) {
    return services::LimitReached(
        absl::StrCat(room >> 10, " KiB"), "labels of a recording",
        absl::StrCat(target.name.lun_name(), " keeps at most ", room >> 10,
                     " KiB of labels and origin for a recording, and this one has more; shorten "
                     "the labels"));
  }
  target.segment_blocks = SegmentBlocks(target.channel, target.lun->terms());
  TD_RETURN_IF_ERROR(CheckSlots(open, target.channel.block_bytes));
  target.op = open.op.value_or(target.channel.op.value_or(dataplane::TransferOp::kRead));
  return target;
}

absl::StatusOr<capture::ArmRecording> PrepareRecording(
    NodeResources& resources, const RecordTarget& target, size_t ring_slots,
    std::shared_ptr<dataplane::ArrivalCrcs> arrivals, dataplane::Executor& executor) {
  TD_ASSIGN_OR_RETURN(recording::Reservation room, RoomOf(resources, target));
  TD_ASSIGN_OR_RETURN(StartedRecording started, BeginUnderNewName(resources, target, executor));
  started.room.Add(std::move(room));
  started.undo = [name = started.name, manifest = started.manifest](
                     catalog::Catalog& catalog, luns::OpenLun& lun,
                     recording::Reservation /*room*/) {
    Drop(catalog, lun, name, manifest, "its session ended before it could begin");
  };
  return WithWriter(resources, target, ring_slots, std::move(arrivals), executor,
                    std::move(started));
}

}  // namespace tapedeck::storage_node::admission
