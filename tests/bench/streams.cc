#include "tests/bench/streams.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "dataplane/crc/crc32c.h"
#include "dataplane/status_macros.h"

namespace tapedeck::bench {

using dataplane::Block;
using dataplane::Flow;

namespace {

// Payload that no disk can make smaller.
void FillWithNoise(dataplane::SlotPool& ring) {
  std::mt19937_64 random(1);
  const std::span<std::byte> bytes = ring.window().bytes;
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    const uint64_t value = random();
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  }
}

}  // namespace

double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void Pump::Wake() {
  loop_.Post([this] { Run(); });
}

void Pump::WakeAt(int64_t ns) {
  loop_.PostAt(ns, [this] { Run(); });
}

void Pump::Run() {
  if (done_) return;
  const absl::StatusOr<Flow> flow = step_();
  if (flow.ok() && *flow != Flow::kEnd) return;
  done_ = true;
  ended_.set_value(flow.status());
}

RecordStream::RecordStream(StreamSettings settings, dataplane::EventLoop& loop)
    : settings_(std::move(settings)),
      loop_(loop),
      manifest_{.id = settings_.path.recording,
                .identity = {.channel = settings_.path.channel},
                .members = settings_.members,
                .block_bytes = settings_.block_bytes,
                .datatype = "cu8"},
      pump_(loop, [this] { return Step(); }) {}

absl::StatusOr<std::unique_ptr<RecordStream>> RecordStream::Create(StreamSettings settings,
                                                                   dataplane::EventLoop& loop) {
  std::unique_ptr<RecordStream> stream(new RecordStream(std::move(settings), loop));
  const StreamSettings& own = stream->settings_;
  TD_ASSIGN_OR_RETURN(stream->ring_,
                      own.store->MakeRing({.slots = own.slots, .slot_bytes = own.block_bytes}));
  FillWithNoise(*stream->ring_);
  TD_ASSIGN_OR_RETURN(
      auto files, own.store->Open(own.path, storage_node::store::ToCreate(own.block_bytes), loop));
  loop.RunAndWait([&] {
    stream->writer_ = std::make_unique<storage_node::recording::RecordingWriter>(
        storage_node::recording::WriterOptions{
            .name = own.path.recording,
            .manifest = stream->manifest_,
            .ring_slots = own.slots,
            .capacity = std::make_shared<storage_node::recording::Capacity>(0),
            .live = stream->live_},
        std::move(files), loop);
    stream->writer_->SetWaker([&pump = stream->pump_] { pump.Wake(); });
    stream->ring_->SetWaker([&pump = stream->pump_] { pump.Wake(); });
  });
  return stream;
}

void RecordStream::Begin(int64_t deadline_ns) {
  begin_ns_ = loop_.clock().NowNs();
  deadline_ns_ = deadline_ns;
  begun_ = true;
  pump_.Wake();
}

RecordStream::~RecordStream() {
  loop_.RunAndWait([this] {
    if (ring_ != nullptr) ring_->SetWaker(nullptr);
    writer_ = nullptr;
  });
}

absl::Status RecordStream::Wait() {
  const absl::Status status = pump_.Wait();
  elapsed_ns_ = loop_.clock().NowNs() - begin_ns_;
  return status;
}

// Whether the next block may go; else a wake-up will come.
bool RecordStream::Due() {
  if (settings_.blocks_per_s == 0) return true;
  const int64_t due_ns =
      begin_ns_ + static_cast<int64_t>(static_cast<double>(next_) * 1e9 / settings_.blocks_per_s);
  if (loop_.clock().NowNs() >= due_ns) return true;
  pump_.WakeAt(due_ns);
  return false;
}

// Hands the writer what its ring and the sender's window allow, then seals.
absl::StatusOr<Flow> RecordStream::Step() {
  TD_RETURN_IF_ERROR(writer_->status());
  if (!begun_) return Flow::kNotNow;
  const bool timed = settings_.blocks == 0;
  const uint64_t acknowledged = writer_->watermarks().at(settings_.commit);
  const auto over = [&] {
    return timed ? loop_.clock().NowNs() >= deadline_ns_ : next_ >= settings_.blocks;
  };
  while (!over() && next_ < acknowledged + settings_.slots && Due()) {
    std::optional<Block> block = ring_->Take();
    if (!block.has_value()) return Flow::kNotNow;
    block->header() = {.sequence = next_,
                       .capture_ns = loop_.clock().WallNs(),
                       .payload_bytes = static_cast<uint32_t>(settings_.block_bytes),
                       .crc32c = dataplane::Crc32c(block->memory().first(settings_.block_bytes))};
    TD_RETURN_IF_ERROR(writer_->Push(&*block).status());
    ++next_;
  }
  if (!over() || acknowledged < next_) return Flow::kNotNow;
  return writer_->Finish(absl::OkStatus());
}

PlayStream::PlayStream(StreamSettings settings, storage_node::format::Manifest manifest,
                       std::shared_ptr<storage_node::recording::LiveRecording> live,
                       dataplane::EventLoop& loop)
    : settings_(std::move(settings)),
      manifest_(std::move(manifest)),
      live_(std::move(live)),
      loop_(loop),
      pump_(loop, [this] { return Step(); }) {}

absl::StatusOr<std::unique_ptr<PlayStream>> PlayStream::Create(
    StreamSettings settings, storage_node::format::Manifest manifest,
    std::shared_ptr<storage_node::recording::LiveRecording> live, dataplane::EventLoop& loop) {
  std::unique_ptr<PlayStream> stream(
      new PlayStream(std::move(settings), std::move(manifest), std::move(live), loop));
  const StreamSettings& own = stream->settings_;
  TD_ASSIGN_OR_RETURN(
      stream->ring_,
      own.store->MakeRing({.slots = own.slots, .slot_bytes = own.block_bytes, .playback = true}));
  TD_ASSIGN_OR_RETURN(stream->opener_, services::TaskThread::Create("opener"));
  return stream;
}

void PlayStream::Begin(int64_t deadline_ns) {
  begin_ns_ = loop_.clock().NowNs();
  deadline_ns_ = deadline_ns;
  pump_.Wake();
}

PlayStream::~PlayStream() {
  opener_ = nullptr;  // what it has posted comes before this
  loop_.RunAndWait([this] { reader_ = nullptr; });
}

void PlayStream::Open() {
  reader_ = nullptr;
  opening_ = true;
  opener_->Run([this] {
    loop_.Post([this, files = settings_.store->Open(settings_.path, {}, loop_)]() mutable {
      OnOpened(std::move(files));
    });
  });
}

void PlayStream::OnOpened(
    absl::StatusOr<std::unique_ptr<storage_node::store::RecordingFiles>> files) {
  opening_ = false;
  open_error_ = files.status();
  pump_.Wake();
  if (!files.ok()) return;
  reader_ = std::make_unique<storage_node::recording::RecordingReader>(
      storage_node::recording::ReaderOptions{.name = settings_.path.recording,
                                             .manifest = manifest_,
                                             .ring = ring_,
                                             .live = live_,
                                             .behind_ns = settings_.behind_ns,
                                             .follow_memory = settings_.follow_memory},
      *std::move(files), loop_);
  reader_->SetWaker([this] { pump_.Wake(); });
}

absl::Status PlayStream::Wait() {
  const absl::Status status = pump_.Wait();
  elapsed_ns_ = loop_.clock().NowNs() - begin_ns_;
  return status;
}

absl::StatusOr<Flow> PlayStream::Step() {
  TD_RETURN_IF_ERROR(open_error_);
  if (reader_ == nullptr && !opening_) Open();
  while (reader_ != nullptr) {
    Block block;
    TD_ASSIGN_OR_RETURN(const Flow flow, reader_->Pull(&block));
    if (flow == Flow::kNotNow) return flow;
    if (flow == Flow::kMoved && block.payload().empty()) {
      return absl::DataLossError("a block is damaged");
    }
    if (flow == Flow::kMoved) ++blocks_;
    if (flow == Flow::kEnd) blocks_from_memory_ += reader_->blocks_from_memory();
    const bool repeats = deadline_ns_ != 0;
    if (repeats && loop_.clock().NowNs() >= deadline_ns_) return Flow::kEnd;
    if (flow != Flow::kEnd) continue;
    if (!repeats) return Flow::kEnd;
    Open();
  }
  return Flow::kNotNow;
}

}  // namespace tapedeck::bench
