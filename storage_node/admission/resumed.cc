#include "storage_node/admission/resumed.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "storage_node/admission/new_recording.h"
#include "storage_node/admission/prepared.h"
#include "storage_node/admission/session_ring.h"
#include "storage_node/recording/writing/writer_start.h"

namespace tapedeck::storage_node::admission {
namespace {

using catalog::RecordingRow;
using recording::ResumeRefused;
using services::RecordingState;
using services::session::Open;

// Rows of the catalog that are looked through at a time, newest first.
constexpr size_t kRowsAtOnce = 64;
// Segments that a lost session may have had open: the one that is full, some that the disk still
// closes, and one made ahead.
constexpr size_t kMaxReopened = 8;

constexpr char kLost[] = "ABORTED: the session ended without closing the recording";

// As long for a token that is nearly right as for any other.
bool IsToken(const format::Manifest& manifest, const std::string& token) {
  const std::string own = TokenBytes(manifest.resume_token);
  if (own.empty() || own.size() != token.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    difference |= static_cast<unsigned char>(own[i] ^ token[i]);
  }
  return difference == 0;
}

absl::Status Busy(const RecordingRow& row, absl::string_view why) {
  return recordings::Busy({.name = row.name, .lun = nullptr, .manifest = row.manifest}, why);
}

// Whether the worker may go on after the last recording it wrote.
absl::Status CheckLast(const Open& open, const RecordingRow& last, const recordings::AgeBase& age) {
  const format::Manifest& manifest = last.manifest;
  const std::string& name = open.resume->recording;
  if (manifest.resume_token.empty() && manifest.state == RecordingState::kSealed) {
    const uint64_t blocks = manifest.segment * manifest.segment_blocks + manifest.blocks;
    return ResumeRefused(name, "SEALED",
                         absl::StrCat("it has ended, with ", blocks, " blocks; record again"),
                         blocks);
  }
  if (!IsToken(manifest, open.resume->token)) {
    return ResumeRefused(name, "TOKEN",
                         "another worker made it, or its session cannot resume; record again");
  }
  const bool closed = manifest.state != RecordingState::kRecording;
  if (closed && age.Of(manifest.end_time_ns) > age.max_age_ns) {
    return ResumeRefused(name, "LATE", "it was closed more than an hour ago; record again");
  }
  return absl::OkStatus();
}

// The segments of a stream from `first` on that are in the catalog, in order; at least its last.
absl::StatusOr<std::vector<RecordingRow>> SegmentsFrom(NodeResources& resources,
                                                       const catalog::ResourceName& stream,
                                                       uint64_t first_block) {
  const catalog::ResourceName channel{.lun = stream.lun, .channel = stream.channel};
  std::vector<RecordingRow> found;
  catalog::RowKey after;
  while (true) {
    TD_ASSIGN_OR_RETURN(
        auto rows, resources.recordings.catalog()->RecordingsAfter(channel, after, kRowsAtOnce));
    for (RecordingRow& row : rows) {
      after = {.open_ns = row.manifest.open_time_ns, .name = row.name};
      if (row.manifest.stream != stream.recording) continue;
      found.push_back(std::move(row));
    }
    const bool enough =
        !found.empty() && found.back().manifest.segment_blocks > 0 &&
        found.back().manifest.segment <= first_block / found.back().manifest.segment_blocks;
    if (rows.empty() || enough || found.size() > kMaxReopened) break;
  }
  std::ranges::sort(found, {}, [](const RecordingRow& row) { return row.manifest.segment; });
  return found;
}

bool HasAll(const format::Manifest& manifest) {
  return manifest.blocks >= manifest.segment_blocks && manifest.missing.empty();
}

// Leaves those that have blocks to come, and the last.
absl::Status KeepOpen(const Open& open, std::vector<RecordingRow>* rows) {
  const uint64_t blocks = rows->back().manifest.segment_blocks;
  const uint64_t first = blocks == 0 ? 0 : open.resume->first_block / blocks;
  const auto settled = [&](const RecordingRow& row) {
    return row.manifest.segment < first || HasAll(row.manifest);
  };
  while (rows->size() > 1 && settled(rows->front())) rows->erase(rows->begin());
  const uint64_t number = rows->front().manifest.segment;
  bool whole = blocks > 0 && rows->size() <= kMaxReopened && first <= number + 1;
  for (size_t i = 0; i < rows->size(); ++i) {
    const format::Manifest& manifest = (*rows)[i].manifest;
    whole = whole && manifest.segment == number + i && manifest.segment_blocks == blocks;
  }
  if (whole) return absl::OkStatus();
  return ResumeRefused(open.resume->recording, "GAP",
                       "segments that still needed blocks are gone; record again");
}

absl::StatusOr<std::vector<RecordingRow>> FindRows(NodeResources& resources, const Open& open) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name,
                      catalog::ParseRecordingName(open.resume->recording));
  if (name.channel_name() != open.channel) {
    return ResumeRefused(open.resume->recording, "CHANNEL",
                         absl::StrCat("it does not belong to channel ", open.channel));
  }
  TD_ASSIGN_OR_RETURN(const auto manifest, resources.recordings.catalog()->GetRecording(name));
  if (manifest.has_value() && manifest->stream.empty()) {
    return std::vector<RecordingRow>{{.name = name, .manifest = *manifest}};
  }
  TD_ASSIGN_OR_RETURN(auto rows, SegmentsFrom(resources, name, open.resume->first_block));
  if (rows.empty()) {
    return ResumeRefused(open.resume->recording, "DELETED", "it does not exist; record again");
  }
  return rows;
}

// Nobody writes it, and it is closed.
absl::Status AwaitRow(NodeResources& resources, luns::OpenLun& lun, RecordingRow* row) {
  const auto live = resources.recordings.live().Find(row->name.ToString());
  if (live != nullptr && live->closed() == nullptr) {
    live->GiveWay();
    return Busy(*row, "is still being written by its previous session, which is ending; try again");
  }
  TD_RETURN_IF_ERROR(resources.recordings.CheckNotHalfDeleted(
      {.name = row->name, .lun = nullptr, .manifest = row->manifest}));
  TD_RETURN_IF_ERROR(resources.recordings.CloseAbandoned(lun, row, kLost));
  if (row->manifest.state != RecordingState::kRecording) return absl::OkStatus();
  return Busy(*row, "is being closed or deleted; try again");
}

// As much of its capacity as it would have had from the beginning, and what lies below `next`.
absl::StatusOr<recording::Reservation> RoomFor(NodeResources& resources, const RecordTarget& target,
                                               const format::Manifest& closed, uint64_t next) {
  const uint64_t taken = target.lun->TakenBy(closed);
  const uint64_t expected =
      closed.segment_blocks != 0 ? closed.segment_blocks : target.open.expected_blocks;
  const uint64_t blocks = std::max(next, std::min(expected, kMaxBlocks));
  const uint64_t whole = blocks == 0 ? 0 : BytesOfOne(target, blocks);
  if (whole <= taken) return recording::Reservation();
  return ReserveBytes(resources, target, whole - taken, 0);
}

recording::Notes NotesOf(const format::Manifest& manifest) {
  recording::Notes notes{.annotations = manifest.annotations, .kept = manifest.kept};
  for (const auto& annotation : notes.annotations) {
    notes.annotation_bytes += services::BytesOf(annotation);
  }
  return notes;
}

// Its row says that it is written, the files still that it is closed: a crash leaves it closed.
absl::StatusOr<StartedRecording> ReopenOne(NodeResources& resources, const RecordTarget& target,
                                           const RecordingRow& row, uint64_t first,
                                           dataplane::Executor& executor) {
  StartedRecording started{.name = row.name};
  started.held.lun = target.lun;
  started.held.lease = resources.recordings.leases().TakeExclusive(row.name.ToString());
  if (started.held.lease == nullptr) return Busy(row, "is played or deleted; try again");
  // What was found before the lease may have changed.
  catalog::Catalog& rows = *resources.recordings.catalog();
  TD_ASSIGN_OR_RETURN(const auto now, rows.GetRecording(row.name));
  if (!now.has_value() || now->state == RecordingState::kRecording) {
    return Busy(row, "was just changed; try again");
  }
  const format::Manifest& closed = *now;
  const store::RecordingPath path = recordings::PathOf(row.name, closed);
  store::Store& store = *target.lun->store;
  TD_ASSIGN_OR_RETURN(started.start,
                      recording::FindStart(store, path, closed, first, resources.luns.clock()));
  TD_ASSIGN_OR_RETURN(recording::Reservation more,
                      RoomFor(resources, target, closed, started.start.next));
  TD_ASSIGN_OR_RETURN(started.files,
                      store.Open(path, {.purpose = store::Purpose::kGoOn}, executor));
  started.manifest = recording::Reopened(closed, started.start);
  started.notes = NotesOf(closed);
  TD_RETURN_IF_ERROR(rows.CheckTakes());
  rows.PutRecording(row.name, started.manifest);
  started.held.closing =
      std::make_shared<recordings::Closing>(resources.recordings.closer(), row.name.ToString());
  started.room.Add(recording::Reservation::Of(target.lun->capacity, row.name.ToString()));
  started.room.Add(std::move(more));
  started.undo = [closed, name = row.name](catalog::Catalog& catalog, luns::OpenLun& lun,
                                           recording::Reservation room) {
    lun.capacity->Close(name.ToString(), room.TakeOver(), lun.TakenBy(closed));
    catalog.PutRecording(name, closed);
  };
  return started;
}

}  // namespace

std::string NewResumeToken(NodeResources& resources) {
  const uint64_t high = resources.luns.random()();
  return absl::StrCat(absl::Hex(high, absl::kZeroPad16),
                      absl::Hex(resources.luns.random()(), absl::kZeroPad16));
}

std::string TokenBytes(const std::string& digits) { return absl::HexStringToBytes(digits); }

absl::StatusOr<Resumable> FindResumable(NodeResources& resources, const Open& open) {
  TD_ASSIGN_OR_RETURN(RecordTarget target, FindTarget(resources, open));
  TD_ASSIGN_OR_RETURN(auto rows, FindRows(resources, open));
  recordings::ClockSteps& clock = resources.recordings.clock_steps();
  clock.Look();
  TD_RETURN_IF_ERROR(CheckLast(open, rows.back(), clock.Of(kResumeLimitNs)));
  for (RecordingRow& row : rows) TD_RETURN_IF_ERROR(AwaitRow(resources, *target.lun, &row));
  const format::Manifest last = rows.back().manifest;
  if (!last.stream.empty()) TD_RETURN_IF_ERROR(KeepOpen(open, &rows));
  target.channel.block_bytes = last.block_bytes;
  target.channel.datatype = last.datatype;
  target.channel.sample_rate = last.sample_rate;
  target.channel.commit = last.commit;
  TD_RETURN_IF_ERROR(CheckSlots(open, last.block_bytes));
  target.resume_token = last.resume_token;
  target.stream = last.stream;
  target.segment_blocks = last.segment_blocks;
  return Resumable{.target = std::move(target), .rows = std::move(rows)};
}

absl::StatusOr<ResumedRecordings> Reopen(NodeResources& resources, const Resumable& found,
                                         size_t ring_slots,
                                         std::shared_ptr<dataplane::ArrivalCrcs> arrivals,
                                         dataplane::Executor& executor) {
  ResumedRecordings resumed;
  RecordTarget target = found.target;
  for (const RecordingRow& row : found.rows) {
    const format::Manifest& manifest = row.manifest;
    const uint64_t base = manifest.segment * manifest.segment_blocks;
    uint64_t first = target.open.resume->first_block;
    first -= std::min(first, base);
    if (manifest.segment_blocks > 0) first = std::min(first, manifest.segment_blocks);
    TD_ASSIGN_OR_RETURN(StartedRecording started,
                        ReopenOne(resources, target, row, first, executor));
    if (resumed.recordings.empty()) resumed.next_block = base + started.start.next;
    resumed.missing_blocks += started.start.missing_blocks();
    if (!manifest.stream.empty()) target.segment = manifest.segment;
    resumed.recordings.push_back(
        WithWriter(resources, target, ring_slots, arrivals, executor, std::move(started)));
  }
  return resumed;
}

}  // namespace tapedeck::storage_node::admission
