#include "storage_node/recording/writing/recording_writer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/trace/context.h"
#include "storage_node/format/limits.h"
#include "storage_node/recording/writing/block_limits.h"
#include "storage_node/recording/writing/ending.h"

namespace tapedeck::storage_node::recording {

using dataplane::Flow;
using dataplane::flight::Kind;

RecordingWriter::RecordingWriter(WriterOptions options,
                                 std::unique_ptr<store::RecordingFiles> files,
                                 dataplane::Executor& executor)
    : options_(std::move(options)),
      executor_(executor),
      files_(std::move(files)),
      header_(options_.manifest.index_header()),
      written_(options_.manifest, options_.start),
      space_(
          {.recording = options_.name,
           .capacity = std::move(options_.capacity),
           .reserved = std::move(options_.reserved),
           .layout = options_.layout},
          options_.manifest, executor, [this] { return received_.mark(); },
          [this] { EndWhereSpaceEnds(); }),
      manifest_(options_.manifest, *options_.live, *files_,
                [this](const absl::Status& status) { OnManifestStored(status); }),
      blocks_(*files_,
              {.recording = options_.name,
               .block_bytes = options_.manifest.block_bytes,
               .members = options_.manifest.members,
               .trail = options_.trail},
              [this](const auto& entry, const auto& status) { OnBlockWritten(entry, status); }),
      index_(*files_, options_.manifest.entries(),
             {.on_written = [this](const auto& entries) { OnIndexed(entries); },
              .on_error = [this](const absl::Status& status) { Fail(status); },
              .on_idle = [this] { Advance(); }}),
      watermark_pages_(index_, options_.manifest.identity.recording,
                       options_.start.watermark_generation),
      commit_(*files_, executor,
              {.blocks = std::max<size_t>(1, options_.ring_slots / 2),
               .durable = options_.start.next,
               .trail = options_.trail,
               .stages = options_.stages,
               .slow_flushes = SlowFlushes(options_.trace, options_.name)},
              *options_.meter, [this](const absl::Status& status) { OnFlushed(status); }) {
  if (options_.arrivals == nullptr) {
    options_.arrivals =
        std::make_shared<dataplane::ArrivalCrcs>(options_.manifest.entries().piece_bytes);
  }
  options_.live->BeginStages(options_.stages);
  files_->OnLost([this](const absl::Status& status) { Fail(status); });
  index_.WriteHeader(header_);
  OpenToOthers();
  AddThere(options_.start, &received_);
  ShowWritten();
  options_.live->durable = options_.start.next;
  manifest_.Store();
}

void RecordingWriter::OpenToOthers() {
  auto noted = lifetime_.Guard([this] { manifest_.OnNoted(); });
  options_.live->SetOnNoted([&executor = executor_, noted] { executor.Post(noted); });
  options_.live->SetOnGiveWay([&executor = executor_, give = lifetime_.Guard([this] {
    GiveWay();
  })] { executor.Post(give); });
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
  if (!state_.sealed()) options_.live->Close(AsWritten());
}

format::Manifest RecordingWriter::AsWritten() const {
  format::Manifest manifest = options_.manifest;
  manifest.blocks = written_.mark();
  manifest.start_time_ns = written_.start_time_ns();
  manifest.state = services::RecordingState::kSalvaged;
  return manifest;
}

absl::StatusOr<Flow> RecordingWriter::Push(dataplane::Block* block) {
  TD_RETURN_IF_ERROR(state_.error());
  if (!state_.open()) return absl::FailedPreconditionError("Push after Finish");
  dataplane::BlockHeader& header = block->header();
  TD_RETURN_IF_ERROR(
      CheckBlock(options_.name, header, options_.manifest.block_bytes, received_.mark()));
  if (received_.Has(header.sequence)) {
    block->Reset();
    return Flow::kMoved;
  }
  if (!space_.Take(header.sequence)) {
    block->Reset();
    EndWhereSpaceEnds();
    TD_RETURN_IF_ERROR(state_.error());
    return Flow::kMoved;
  }
  received_.Add(header.sequence);
  MarkTriggers(header, *options_.live);
  const format::IndexEntry entry = EntryOf(*block);
  if (header.payload_bytes == 0) {
    block->Reset();
    index_.Add(entry);
  } else {
    blocks_.Write(entry, options_.live->tail->Keep(std::move(*block), options_.ring_slots));
  }
  EndWhereSpaceEnds();
  return Flow::kMoved;
}

format::IndexEntry RecordingWriter::EntryOf(const dataplane::Block& block) const {
  const dataplane::BlockHeader& header = block.header();
  const format::Place place = blocks_.PlaceOf(header.sequence);
  return {.sequence = header.sequence,
          .sample_index = header.sample_index,
          .capture_ns = header.capture_ns,
          .payload_bytes = header.payload_bytes,
          .flags = header.flags,
          .check = format::CheckValue(options_.manifest.identity, header.sequence, place,
                                      header.crc32c, header.payload_bytes),
          .payload_crc32c = header.crc32c,
          .pieces = options_.arrivals->Take(block.payload())};
}

void RecordingWriter::EndWhereSpaceEnds() {
  const absl::Status end = space_.end();
  if (!end.ok() && state_.open()) Fail(end);
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
  if (!status.ok()) Fail(status);
  options_.live->durable = watermarks().durable;
  options_.trail.Stamp(Kind::kDurable,
                       {.sequence = commit_.durable(), .argument = commit_.durable()});
  options_.live->waiting_since_ns = commit_.waiting_since_ns();
  if (status.ok() && state_.open()) {
    watermark_pages_.OnDurable(commit_.durable(), executor_.clock().NowNs());
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
  if (!state_.Fail(status)) return;
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
  if (!state_.open()) return;
  if (!state_.Fail(services::PeerLost("worker", "its worker continues in another session"))) return;
  options_.live->tail->Stop();
  Wake();
}

void RecordingWriter::Wake() {
  if (waker_) waker_();
}

absl::StatusOr<Flow> RecordingWriter::Finish(const absl::Status& cause) {
  if (state_.open()) {
    state_.Drain(cause);
    manifest_.Stop();
    commit_.Hurry();
    Advance();
  }
  return state_.Finished();
}

void RecordingWriter::Advance() {
  if (!state_.draining() || manifest_.storing()) return;
  if (!blocks_.idle() || !index_.idle() || !commit_.idle()) return;
  if (commit_.failed()) return LeaveToRecovery();
  state_.Seal(options_.trace, options_.name);
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
  state_.LeaveToRecovery();
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
  Conclude(state_.ending(), written_, &manifest);
  return {.manifest = std::move(manifest),
          .data_bytes = written_.data_bytes(),
          .watermark_generation = watermark_pages_.next_generation(),
          .header = header_};
}

void RecordingWriter::OnSealed(const format::Manifest& manifest, const absl::Status& status) {
  if (!status.ok()) {
    Fail(status);
    return LeaveToRecovery();
  }
  options_.live->durable = manifest.durable_watermark;
  space_.Settle(manifest);
  files_ = nullptr;
  if (!options_.on_sealed) return Close(manifest);
  std::exchange(options_.on_sealed, nullptr)(
      manifest, lifetime_.Guard([this, manifest] { Close(manifest); }));
}

void RecordingWriter::Close(const format::Manifest& manifest) {
  state_.EndSealed(manifest.blocks);
  options_.lease = nullptr;
  options_.live->Close(manifest);
  Wake();
}

}  // namespace tapedeck::storage_node::recording
