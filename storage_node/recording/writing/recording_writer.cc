#include "storage_node/recording/writing/recording_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/trace/log_under.h"
#include "storage_node/format/limits.h"
#include "storage_node/recording/writing/block_limits.h"
#include "storage_node/recording/writing/ending.h"

namespace tapedeck::storage_node::recording {
namespace {

using dataplane::Flow;
using dataplane::flight::Kind;

// Watermark pages bound what recovery must read again; more often they would only cost writes.
constexpr int64_t kWatermarkPeriodNs = 25 * dataplane::kMillisecondNs;

}  // namespace

RecordingWriter::RecordingWriter(WriterOptions options,
                                 std::unique_ptr<store::RecordingFiles> files,
                                 dataplane::Executor& executor)
    : options_(std::move(options)),
      executor_(executor),
      files_(std::move(files)),
      entries_(options_.manifest.entries()),
      header_(options_.manifest.index_header()),
      written_(options_.manifest, options_.start),
      footprint_(options_.layout, options_.manifest.block_bytes, options_.manifest.members),
      account_(options_.capacity, std::move(options_.reserved), footprint_,
               footprint_.OfManifest(options_.manifest)),
      room_end_(
          executor, [this] { return received_.mark(); }, [this] { EndWhereRoomEnds(); }),
      watermark_generation_(options_.start.watermark_generation),
      slow_flushes_(options_.trace, options_.name),
      manifest_(options_.manifest, *options_.live, *files_,
                [this](const absl::Status& status) { OnManifestStored(status); }),
      blocks_(*files_,
              {.recording = options_.name,
               .block_bytes = options_.manifest.block_bytes,
               .members = options_.manifest.members,
               .trail = options_.trail},
              [this](const auto& entry, const auto& status) { OnBlockWritten(entry, status); }),
      index_(*files_, entries_,
             {.on_written = [this](const auto& entries) { OnIndexed(entries); },
              .on_error = [this](const absl::Status& status) { Fail(status); },
              .on_idle = [this] { Advance(); }}),
      commit_(*files_, executor,
              {.blocks = std::max<size_t>(1, options_.ring_slots / 2),
               .durable = options_.start.next,
               .trail = options_.trail,
               .stages = options_.stages},
              *options_.meter, [this](const absl::Status& status) { OnFlushed(status); }) {
  if (options_.arrivals == nullptr) {
    options_.arrivals = std::make_shared<dataplane::ArrivalCrcs>(entries_.piece_bytes);
  }
  options_.live->BeginStages(options_.stages);
  files_->OnLost([this](const absl::Status& status) { Fail(status); });
  index_.WriteHeader(header_);
  auto noted = lifetime_.Guard([this] { manifest_.OnNoted(); });
  options_.live->SetOnNoted([&executor, noted] { executor.Post(noted); });
  options_.live->SetOnGiveWay(
      [&executor, give = lifetime_.Guard([this] { GiveWay(); })] { executor.Post(give); });
  AddThere(options_.start, &received_);
  ShowWritten();
  options_.live->durable = options_.start.next;
  manifest_.Store();
}

void RecordingWriter::ShowWritten() {
  options_.live->blocks = written_.end();
  options_.live->bytes = written_.bytes();
  options_.live->missing_blocks = written_.gaps().blocks();
  options_.live->SetStart(written_.start_time_ns());
}

RecordingWriter::~RecordingWriter() {
  options_.live->SetOnNoted(nullptr);
  options_.live->SetOnGiveWay(nullptr);
  if (phase_ != Phase::kSealed) options_.live->Close(AsWritten());
}

format::Manifest RecordingWriter::AsWritten() const {
  format::Manifest manifest = options_.manifest;
  manifest.blocks = written_.mark();
  manifest.start_time_ns = written_.start_time_ns();
  manifest.state = services::RecordingState::kSalvaged;
  return manifest;
}

absl::StatusOr<Flow> RecordingWriter::Push(dataplane::Block* block) {
  TD_RETURN_IF_ERROR(error_);
  if (phase_ != Phase::kOpen) return absl::FailedPreconditionError("Push after Finish");
  dataplane::BlockHeader& header = block->header();
  TD_RETURN_IF_ERROR(
      CheckBlock(options_.name, header, options_.manifest.block_bytes, received_.mark()));
  if (received_.Has(header.sequence)) {
    block->Reset();
    return Flow::kMoved;
  }
  if (room_end_.Excludes(header.sequence) || !account_.Charge(header.sequence)) {
    block->Reset();
    room_end_.Set(header.sequence, Full(options_.name, account_.capacity()));
    EndWhereRoomEnds();
    TD_RETURN_IF_ERROR(error_);
    return Flow::kMoved;
  }
  received_.Add(header.sequence);
  MarkTriggers(header, *options_.live);
  const format::Place place = blocks_.PlaceOf(header.sequence);
  const format::IndexEntry entry{
      .sequence = header.sequence,
      .sample_index = header.sample_index,
      .capture_ns = header.capture_ns,
      .payload_bytes = header.payload_bytes,
      .flags = header.flags,
      .check = format::CheckValue(options_.manifest.identity, header.sequence, place, header.crc32c,
                                  header.payload_bytes),
      .payload_crc32c = header.crc32c,
      .pieces = options_.arrivals->Take(block->payload())};
  if (header.payload_bytes == 0) {
    block->Reset();
    index_.Add(entry);
  } else {
    blocks_.Write(entry, options_.live->tail->Keep(std::move(*block), options_.ring_slots));
  }
  EndWhereRoomEnds();
  return Flow::kMoved;
}

void RecordingWriter::EndWhereRoomEnds() {
  const absl::Status end = room_end_.status();
  if (!end.ok() && phase_ == Phase::kOpen) Fail(end);
}

void RecordingWriter::OnBlockWritten(const format::IndexEntry& entry, const absl::Status& status) {
  if (status.ok()) {
    index_.Add(entry);
  } else {
    Fail(status);
  }
  Advance();
}

void RecordingWriter::OnIndexed(const std::vector<format::IndexEntry>& entries) {
  const uint64_t bytes_before = written_.bytes();
  for (const format::IndexEntry& entry : entries) written_.Add(entry);
  options_.meter->written_blocks += entries.size();
  options_.meter->written_bytes += written_.bytes() - bytes_before;
  ShowWritten();
  options_.live->SetWritten(manifest_.stored() ? written_.mark() : 0);
  commit_.OnWritten(written_.mark(), entries.size());
  options_.live->waiting_since_ns = commit_.waiting_since_ns();
  if (written_.gaps().ranges() > format::kMaxGaps) Fail(TooManyGaps(options_.name));
  Wake();
  Advance();
}

void RecordingWriter::OnFlushed(const absl::Status& status) {
  slow_flushes_.Flushed(commit_.last_flush_ns(), status);
  if (!status.ok()) Fail(status);
  options_.live->durable = watermarks().durable;
  options_.trail.Stamp(Kind::kDurable,
                       {.sequence = commit_.durable(), .argument = commit_.durable()});
  options_.live->waiting_since_ns = commit_.waiting_since_ns();
  const int64_t now = executor_.clock().NowNs();
  if (status.ok() && phase_ == Phase::kOpen && now - watermark_ns_ >= kWatermarkPeriodNs) {
    watermark_ns_ = now;
    index_.WriteWatermark({.recording = options_.manifest.identity.recording,
                           .generation = ++watermark_generation_,
                           .durable = commit_.durable()});
  }
  Wake();
  Advance();
}

void RecordingWriter::OnManifestStored(const absl::Status& status) {
  if (manifest_.stored()) options_.live->SetWritten(written_.mark());
  if (!status.ok()) Fail(status);
  Wake();
  Advance();
}

dataplane::Watermarks RecordingWriter::watermarks() const {
  if (!manifest_.stored()) return {.received = received_.mark()};
  return {.received = received_.mark(), .written = written_.mark(), .durable = commit_.durable()};
}

void RecordingWriter::Fail(const absl::Status& status) {
  if (!error_.ok()) return;
  error_ = status;
  const services::telemetry::trace::LogUnder log(options_.trace.above);
  options_.live->tail->Stop();
  // A full disk has lost nothing.
  if (options_.verifier != nullptr && !absl::IsResourceExhausted(status)) {
    options_.verifier->Renew();
  }
  dataplane::Log(dataplane::LogLevel::kError, "recording_writer", "recording failed",
                 {{"recording", options_.name}, {"error", std::string(status.message())}});
  Wake();
}

void RecordingWriter::GiveWay() {
  if (!error_.ok() || phase_ != Phase::kOpen) return;
  error_ = services::PeerLost("worker", "its worker goes on in another session");
  options_.live->tail->Stop();
  Wake();
}

void RecordingWriter::Wake() {
  if (waker_) waker_();
}

absl::StatusOr<Flow> RecordingWriter::Finish(const absl::Status& cause) {
  if (phase_ == Phase::kOpen) {
    phase_ = Phase::kDraining;
    manifest_.Stop();
    cause_ = cause;
    commit_.Hurry();
    Advance();
  }
  if (phase_ == Phase::kLeft) return error_;
  if (phase_ != Phase::kSealed) return Flow::kNotNow;
  if (cause_.ok() && !error_.ok()) return error_;
  return Flow::kEnd;
}

void RecordingWriter::Advance() {
  if (phase_ != Phase::kDraining || manifest_.storing()) return;
  if (!blocks_.idle() || !index_.idle() || !commit_.idle()) return;
  if (commit_.failed()) return LeaveToRecovery();
  phase_ = Phase::kSealing;
  sealing_ = options_.trace.Start("seal");
  sealing_.Set("tapedeck.recording", options_.name);
  options_.live->SetOnNoted(nullptr);
  const uint64_t changes = manifest_.TakeNotes();
  SealPlan plan = MakeSealPlan();
  auto done = [this, changes, manifest = plan.manifest](const absl::Status& status) {
    if (status.ok()) options_.live->SetNoted(changes);
    OnSealed(manifest, status);
  };
  SealRecording(*files_, std::move(plan), std::move(done));
}

// After a failed flush a later one says nothing about what the first should have written (USENIX
// ATC'20, Rebello et al.). Only reading it back from the disk does, and that is what recovery does
// once these files are closed.
void RecordingWriter::LeaveToRecovery() {
  phase_ = Phase::kLeft;
  sealing_.End(error_);
  files_ = nullptr;
  options_.live->SetOnNoted(nullptr);
  options_.live->Close(AsWritten());
  options_.lease = nullptr;
  Wake();
}

SealPlan RecordingWriter::MakeSealPlan() const {
  format::Manifest manifest = options_.manifest;
  manifest.Advance();
  manifest.durable_watermark = commit_.durable();
  manifest.end_time_ns = executor_.clock().WallNs();
  if (options_.stages != nullptr) options_.stages->Refresh();
  manifest.stage_times = options_.live->stage_times();
  services::model::Add(options_.manifest.stage_times, manifest.stage_times);
  Conclude({.error = error_, .cause = cause_}, written_, &manifest);
  return {.manifest = std::move(manifest),
          .data_bytes = written_.data_bytes(),
          .watermark_generation = watermark_generation_ + 1,
          .header = header_};
}

void RecordingWriter::OnSealed(const format::Manifest& manifest, const absl::Status& status) {
  if (!status.ok()) {
    Fail(status);
    return LeaveToRecovery();
  }
  options_.live->durable = manifest.durable_watermark;
  account_.Settle(options_.name, footprint_.Of(manifest));
  files_ = nullptr;
  if (!options_.on_sealed) return Close(manifest);
  std::exchange(options_.on_sealed, nullptr)(
      manifest, lifetime_.Guard([this, manifest] { Close(manifest); }));
}

void RecordingWriter::Close(const format::Manifest& manifest) {
  phase_ = Phase::kSealed;
  sealing_.Set("tapedeck.blocks", static_cast<int64_t>(manifest.blocks));
  sealing_.End();
  options_.lease = nullptr;
  options_.live->Close(manifest);
  Wake();
}

}  // namespace tapedeck::storage_node::recording
