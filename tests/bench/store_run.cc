#include "tests/bench/store_run.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <memory>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/crc32c.h"
#include "dataplane/executor/event_loop.h"
#include "dataplane/status_macros.h"
#include "storage_node/recording_reader.h"
#include "storage_node/recording_writer.h"
#include "storage_node/recovery.h"
#include "storage_node/store/list.h"

namespace tapedeck::bench {
namespace {

using dataplane::Block;
using dataplane::Flow;
using storage_node::store::RecordingPath;
using storage_node::store::Store;

const RecordingPath kPath{.channel = "bench", .recording = "bench"};

double CpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Payload that no disk can make smaller.
void FillWithNoise(dataplane::SlotPool& ring) {
  std::mt19937_64 random(1);
  const std::span<std::byte> bytes = ring.window().bytes;
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    const uint64_t value = random();
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  }
}

// Runs on a loop until its step says kEnd or an error. Step is called at first and at every wake.
class Pump {
 public:
  using Step = std::function<absl::StatusOr<Flow>()>;
  Pump(dataplane::EventLoop& loop, Step step) : loop_(loop), step_(std::move(step)) {}

  // Any thread.
  void Wake() {
    loop_.Post([this] { Run(); });
  }
  absl::Status Wait() { return ended_.get_future().get(); }

 private:
  void Run() {
    if (done_) return;
    const absl::StatusOr<Flow> flow = step_();
    if (flow.ok() && *flow != Flow::kEnd) return;
    done_ = true;
    ended_.set_value(flow.status());
  }

  dataplane::EventLoop& loop_;
  const Step step_;
  bool done_ = false;
  std::promise<absl::Status> ended_;
};

class Bench {
 public:
  Bench(const StoreRun& run, Store& store, dataplane::EventLoop& loop)
      : run_(run), store_(store), loop_(loop) {}

  absl::Status Record(StoreRates* rates);
  absl::Status Play(StoreRates* rates);

 private:
  // Hands the writer what its ring and the sender's window allow, then seals.
  absl::StatusOr<Flow> Feed(storage_node::RecordingWriter& writer, dataplane::SlotPool& ring);
  absl::StatusOr<Flow> Drain(storage_node::RecordingReader& reader);

  const StoreRun& run_;
  Store& store_;
  dataplane::EventLoop& loop_;
  uint64_t next_ = 0;
};

absl::StatusOr<Flow> Bench::Feed(storage_node::RecordingWriter& writer, dataplane::SlotPool& ring) {
  TD_RETURN_IF_ERROR(writer.status());
  const uint64_t acknowledged = writer.watermarks().at(run_.commit);
  while (next_ < run_.blocks && next_ < acknowledged + run_.slots) {
    std::optional<Block> block = ring.Take();
    if (!block.has_value()) return Flow::kNotNow;
    block->header() = {.sequence = next_,
                       .payload_bytes = static_cast<uint32_t>(run_.block_bytes),
                       .crc32c = dataplane::Crc32c(block->memory().first(run_.block_bytes))};
    TD_RETURN_IF_ERROR(writer.Push(&*block).status());
    ++next_;
  }
  if (acknowledged < run_.blocks) return Flow::kNotNow;
  return writer.Finish(absl::OkStatus());
}

absl::Status Bench::Record(StoreRates* rates) {
  TD_ASSIGN_OR_RETURN(auto ring,
                      store_.MakeRing({.slots = run_.slots, .slot_bytes = run_.block_bytes}));
  FillWithNoise(*ring);
  TD_ASSIGN_OR_RETURN(auto files, store_.CreateRecording(kPath, run_.block_bytes, loop_));
  const auto members = static_cast<uint32_t>(std::max<size_t>(1, run_.members.size()));
  std::unique_ptr<storage_node::RecordingWriter> writer;
  Pump pump(loop_, [&] { return Feed(*writer, *ring); });
  const double cpu_s = CpuSeconds();
  const int64_t begin_ns = loop_.clock().NowNs();
  loop_.RunAndWait([&] {
    writer = std::make_unique<storage_node::RecordingWriter>(
        storage_node::WriterOptions{.name = "bench",
                                    .manifest = {.id = kPath.recording,
                                                 .members = members,
                                                 .block_bytes = run_.block_bytes},
                                    .ring_slots = run_.slots,
                                    .capacity = std::make_shared<storage_node::Capacity>(0),
                                    .live = std::make_shared<storage_node::LiveRecording>()},
        std::move(files), loop_);
    writer->SetWaker([&] { pump.Wake(); });
    ring->SetWaker([&] { pump.Wake(); });
  });
  pump.Wake();
  const absl::Status status = pump.Wait();
  rates->write_ns = loop_.clock().NowNs() - begin_ns;
  rates->write_cpu_s = CpuSeconds() - cpu_s;
  loop_.RunAndWait([&] {
    ring->SetWaker(nullptr);
    writer = nullptr;
  });
  return status;
}

absl::StatusOr<Flow> Bench::Drain(storage_node::RecordingReader& reader) {
  while (true) {
    Block block;
    TD_ASSIGN_OR_RETURN(const Flow flow, reader.Pull(&block));
    if (flow != Flow::kMoved) return flow;
    if (block.payload().empty()) return absl::DataLossError("a block is damaged");
  }
}

absl::Status Bench::Play(StoreRates* rates) {
  TD_ASSIGN_OR_RETURN(const auto manifest,
                      storage_node::LoadManifest(store_, kPath, loop_.clock()));
  TD_ASSIGN_OR_RETURN(
      auto ring,
      store_.MakeRing({.slots = run_.slots, .slot_bytes = run_.block_bytes, .playback = true}));
  TD_ASSIGN_OR_RETURN(auto files, store_.OpenRecording(kPath, loop_));
  std::unique_ptr<storage_node::RecordingReader> reader;
  Pump pump(loop_, [&] { return Drain(*reader); });
  const double cpu_s = CpuSeconds();
  const int64_t begin_ns = loop_.clock().NowNs();
  loop_.RunAndWait([&] {
    reader = std::make_unique<storage_node::RecordingReader>(
        storage_node::ReaderOptions{.name = "bench", .manifest = manifest, .ring = ring},
        std::move(files), loop_);
    reader->SetWaker([&] { pump.Wake(); });
  });
  pump.Wake();
  const absl::Status status = pump.Wait();
  rates->read_ns = loop_.clock().NowNs() - begin_ns;
  rates->read_cpu_s = CpuSeconds() - cpu_s;
  loop_.RunAndWait([&] { reader = nullptr; });
  return status;
}

// Blocks that lie in the page cache would be read from there.
void DropPages(const std::vector<std::string>& members) {
  for (const std::string& member : members) {
    const std::string path =
        absl::StrCat(member, "/", kPath.channel, "/", kPath.recording, "/data");
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
  }
}

}  // namespace

absl::StatusOr<StoreRates> RunStore(const StoreRun& run) {
  TD_ASSIGN_OR_RETURN(const auto kind, storage_node::store::FindStoreKind(run.kind));
  const services::Lun lun{.name = "luns/bench",
                          .uid = "00112233-4455-4677-8899-aabbccddeeff",
                          .store = run.kind,
                          .members = run.members,
                          .capacity_bytes = (run.blocks + 4 * run.slots) * run.block_bytes};
  TD_ASSIGN_OR_RETURN(const auto loop, dataplane::EventLoop::Create("session"));
  StoreRates rates;
  absl::Status status;
  {
    TD_ASSIGN_OR_RETURN(const auto store, kind.create(lun));
    status = Bench(run, *store, *loop).Record(&rates);
    DropPages(run.members);
    if (status.ok()) status = Bench(run, *store, *loop).Play(&rates);
    status.Update(store->DeleteRecording(kPath));
  }
  status.Update(kind.remove(lun));
  TD_RETURN_IF_ERROR(status);
  return rates;
}

}  // namespace tapedeck::bench
