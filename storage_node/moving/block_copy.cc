#include "storage_node/moving/block_copy.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/copy/compare.h"
#include "services/copy/compatible.h"
#include "services/copy/pump.h"
#include "storage_node/admission/new_recording.h"
#include "storage_node/moving/move_drafts.h"
#include "storage_node/recording/await_block.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/recording/reading/recording_reader.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::moving {
namespace {

using admission::RecordTarget;
using dataplane::Block;
using dataplane::Flow;
using services::copying::Compared;
using services::copying::NextBlock;

// The blocks of a closed recording, one after the other, each checked as a playback does. On the
// thread of a CallerLoop.
// What is damaged or missing comes as kBlockMissing. The caller has a lease on the recording. The
// loop outlives what is returned.
absl::StatusOr<services::copying::NextBlock> Read(const recordings::FoundRecording& found,
                                                  recording::CallerLoop& loop) {
  constexpr size_t kSlots = 8;
  TD_ASSIGN_OR_RETURN(auto files, found.lun->store->Open(found.path(), {}, loop));
  TD_ASSIGN_OR_RETURN(
      auto ring,
      found.lun->store->MakeRing(
          {.slots = kSlots, .slot_bytes = found.manifest.block_bytes, .playback = true}));
  recording::ReaderOptions options{.name = found.name.ToString(),
                                   .manifest = found.manifest,
                                   .ring = std::move(ring),
                                   .meter = found.lun->meter};
  const auto reader =
      std::make_shared<recording::RecordingReader>(std::move(options), std::move(files), loop);
  reader->SetWaker([&loop] { loop.Post([] {}); });
  return [reader, &loop]() -> absl::StatusOr<std::optional<dataplane::Block>> {
    dataplane::Block block;
    absl::StatusOr<dataplane::Flow> flow = dataplane::Flow::kNotNow;
    loop.RunUntil([&] {
      flow = reader->Pull(&block);
      return !flow.ok() || *flow != dataplane::Flow::kNotNow;
    });
    TD_RETURN_IF_ERROR(flow.status());
    if (*flow == dataplane::Flow::kEnd) return std::nullopt;
    return block;
  };
}

// Of the ring: a writer flushes when half of it waits, which beside other recordings should be
// seldom.
constexpr size_t kRingBytes = 32 << 20;
constexpr size_t kMinSlots = 8, kMaxSlots = 256;

size_t SlotsFor(uint64_t block_bytes) {
  return std::clamp<size_t>(kRingBytes / block_bytes, kMinSlots, kMaxSlots);
}

services::session::Open OpenOf(const recordings::FoundRecording& source,
                               const services::Channel& channel) {
  const services::Recording from = format::ToRecording(source.manifest, source.name.channel_name());
  services::session::Open open{.direction = services::session::Direction::kRecord,
                               .channel = channel.name,
                               .expected_blocks = from.blocks,
                               .labels = from.labels,
                               .origin = from.origin,
                               .group = from.group};
  open.origin.move_draft = from.uid;
  open.original = services::copying::OriginalOf(from);
  return open;
}

// One copy. Its writer lives on the loop, and goes before it.
class BlockCopy {
 public:
  BlockCopy(admission::NodeResources& resources, const recordings::FoundRecording& source,
            services::copying::Pace& pace)
      : source_(source), pace_(pace), resources_(resources), loop_(resources.luns.clock()) {}

  absl::StatusOr<std::string> Run(const services::Channel& channel);

 private:
  absl::StatusOr<capture::ArmRecording> Prepare(const RecordTarget& target);
  absl::Status CopyAll();
  absl::Status CopyOne(Block read);
  Block Slot();
  // What the store has told by now, so that what is written is indexed and flushed meanwhile.
  void RunPosted();
  absl::Status Finish(const absl::Status& cause);

  const recordings::FoundRecording& source_;
  services::copying::Pace& pace_;
  admission::NodeResources& resources_;
  recording::CallerLoop loop_;
  std::shared_ptr<dataplane::SlotPool> ring_;
  std::unique_ptr<recording::RecordingWriter> writer_;
};

// Made on the LUN's queue, as those of sessions are.
absl::StatusOr<capture::ArmRecording> BlockCopy::Prepare(const RecordTarget& target) {
  std::optional<absl::StatusOr<capture::ArmRecording>> made;
  resources_.luns.queues().Of(target.name.lun)->Run([&] {
    auto prepared = admission::PrepareRecording(resources_, target, ring_->slots(), nullptr, loop_);
    loop_.Post(
        [&made, prepared = std::move(prepared)]() mutable { made.emplace(std::move(prepared)); });
  });
  loop_.RunUntil([&] { return made.has_value(); });
  return *std::move(made);
}

Block BlockCopy::Slot() {
  std::optional<Block> slot;
  loop_.RunUntil([&] {
    slot = ring_->Take();
    return slot.has_value();
  });
  return *std::move(slot);
}

absl::Status BlockCopy::CopyOne(Block read) {
  const bool missing = services::copying::IsMissing(read.header());
  const uint64_t sequence = read.header().sequence;
  if (missing && !format::HasSequence(source_.manifest.missing, sequence)) {
    const std::string name = source_.name.ToString();
    return services::BlockDamaged(
        {.recording = name, .blocks = 1},
        absl::StrCat("block ", sequence, " of ", name, " cannot be read as it was recorded; ",
                     "tapectl recordings verify says what is wrong"));
  }
  Block slot = services::copying::CopyInto(missing ? Block::Missing(read.header()) : Slot(),
                                           std::move(read));
  absl::StatusOr<Flow> flow = Flow::kNotNow;
  loop_.RunUntil([&] {
    flow = writer_->Push(&slot);
    return !flow.ok() || *flow != Flow::kNotNow;
  });
  TD_RETURN_IF_ERROR(flow.status());
  RunPosted();
  return writer_->status();
}

void BlockCopy::RunPosted() {
  bool ran = false;
  loop_.Post([&ran] { ran = true; });
  loop_.RunUntil([&ran] { return ran; });
}

absl::Status BlockCopy::CopyAll() {
  TD_ASSIGN_OR_RETURN(const services::copying::NextBlock next, Read(source_, loop_));
  return services::copying::PumpBlocks(
      {.recording = source_.name.ToString(), .end = source_.manifest.blocks}, next,
      [this](Block read) { return CopyOne(std::move(read)); }, pace_);
}

absl::Status BlockCopy::Finish(const absl::Status& cause) {
  absl::StatusOr<Flow> flow = Flow::kNotNow;
  loop_.RunUntil([&] {
    flow = writer_->Finish(cause);
    return !flow.ok() || *flow == Flow::kEnd;
  });
  writer_ = nullptr;
  return flow.status();
}

absl::StatusOr<std::string> BlockCopy::Run(const services::Channel& channel) {
  TD_ASSIGN_OR_RETURN(RecordTarget target,
                      admission::FindTarget(resources_, OpenOf(source_, channel)));
  const uint64_t block_bytes = source_.manifest.block_bytes;
  TD_ASSIGN_OR_RETURN(ring_, target.lun->store->MakeRing(
                                 {.slots = SlotsFor(block_bytes), .slot_bytes = block_bytes}));
  TD_ASSIGN_OR_RETURN(capture::ArmRecording arm, Prepare(target));
  capture::ArmedRecording armed = arm();
  writer_ = std::move(armed.writer);
  const auto wake = [this] { loop_.Post([] {}); };
  writer_->SetWaker(wake);
  ring_->SetWaker(wake);
  const absl::Status copied = CopyAll();
  const absl::Status finished = Finish(copied);
  ring_->SetWaker(nullptr);
  TD_RETURN_IF_ERROR(copied);
  TD_RETURN_IF_ERROR(finished);
  return armed.name;
}

// An index that is read, and the files that it is read from.
struct OpenIndex {
  OpenIndex(std::unique_ptr<store::RecordingFiles> opened, const format::EntryFormat& entries)
      : files(std::move(opened)), reader(*files, entries, [] {}) {}

  const std::unique_ptr<store::RecordingFiles> files;
  index::IndexReader reader;
};

// What the index of a recording says of its blocks: their headers alone. `found` outlives it.
absl::StatusOr<NextBlock> ReadIndex(const recordings::FoundRecording& found,
                                    recording::CallerLoop& loop) {
  TD_ASSIGN_OR_RETURN(auto files, found.lun->store->Open(found.path(), {}, loop));
  const auto index = std::make_shared<OpenIndex>(std::move(files), found.manifest.entries());
  return [&, index, sequence = uint64_t{0}]() mutable -> absl::StatusOr<std::optional<Block>> {
    Block block;
    block.header() = {.sequence = sequence, .flags = dataplane::kBlockMissing};
    if (!format::HasSequence(found.manifest.missing, sequence)) {
      TD_ASSIGN_OR_RETURN(const format::IndexEntry entry,
                          recording::AwaitEntry(loop, index->reader, sequence));
      block.header() = {.sequence = sequence,
                        .sample_index = entry.sample_index,
                        .capture_ns = entry.capture_ns,
                        .payload_bytes = entry.payload_bytes,
                        .crc32c = entry.payload_crc32c,
                        .flags = entry.flags & ~uint32_t{dataplane::kBlockMissing}};
    }
    ++sequence;
    return block;
  };
}

}  // namespace

absl::StatusOr<std::string> CopyBlocks(admission::NodeResources& resources,
                                       const recordings::FoundRecording& source,
                                       const services::Channel& channel,
                                       services::copying::Pace& pace) {
  return BlockCopy(resources, source, pace).Run(channel);
}

absl::Status VerifyCopy(const recordings::FoundRecording& source,
                        const recordings::FoundRecording& copy, const dataplane::Clock& clock,
                        services::copying::Pace& pace) {
  const format::Manifest& original = source.manifest;
  const Compared compared{
      .original = source.name.ToString(), .copy = copy.name.ToString(), .blocks = original.blocks};
  if (!IsWhole(copy.manifest, original) || copy.manifest.missing != original.missing ||
      copy.manifest.block_bytes != original.block_bytes ||
      copy.manifest.datatype != original.datatype) {
    return NotWhole(compared, absl::StrCat("it has ", copy.manifest.blocks, " blocks, ",
                                           copy.manifest.missing_blocks(), " of them missing"));
  }
  recording::CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(const NextBlock of_original, ReadIndex(source, loop));
  TD_ASSIGN_OR_RETURN(const NextBlock of_copy, Read(copy, loop));
  return CompareBlocks(compared, of_original, of_copy, pace);
}

}  // namespace tapedeck::storage_node::moving
