// How fast pipelines are without a network: pipeline_bench DEVICE [BLOCKS [BLOCK_BYTES [FILE]]]
// A table and one line of JSON, MB being 10^6 bytes. FILE (cu8) is looped by the file source.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/clock.h"
#include "tests/gpu_worker/device/devices.h"
#include "tests/gpu_worker/device/plain_cuda.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/gpu_worker/pump.h"

namespace tapedeck::gpu_worker {
namespace {

constexpr size_t kSlots = 64;

class Bench {
 public:
  Bench(const pipeline::DeviceChoice& device, uint64_t blocks, uint64_t block_bytes)
      : device_(device), blocks_(blocks), block_bytes_(block_bytes) {}

  // Records, and drops the blocks or plays them to `sink`.
  bool Run(const std::string& name, TestRecording record, const TestPlayback* sink) {
    record.blocks = blocks_;
    record.block_bytes = block_bytes_;
    record.slots = kSlots;
    record.run = 0;
    auto recording = Record(device_, record, clock_);
    if (!recording.ok()) return Failed(name, recording.status());
    const int64_t start_ns = clock_.NowNs();
    const absl::Status status =
        sink == nullptr ? Drain(*recording->source) : PlayTo(*recording, record.datatype, *sink);
    if (!status.ok()) return Failed(name, status);
    Report(name, start_ns);
    return true;
  }

  // A ring full of blocks that were made before is played, again and again: the sink alone.
  bool RunSink(const std::string& name, TestRecording record, const TestPlayback& sink) {
    record.blocks = kSlots;
    record.block_bytes = block_bytes_;
    record.slots = kSlots;
    const uint64_t rounds = (blocks_ + kSlots - 1) / kSlots;
    int64_t played_ns = 0;
    for (uint64_t i = 0; i < rounds; ++i) {
      const absl::Status status = PlayHeld(record, sink, played_ns);
      if (!status.ok()) return Failed(name, status);
    }
    Report(name, rounds * kSlots, played_ns);
    return true;
  }

  // The device's own CRC, block after block.
  bool RunCrc(const std::string& name) {
    auto queue = device_.device->NewQueue().value();
    auto memory = device_.device->NewDeviceMemory(block_bytes_).value();
    auto crc = device_.device->NewHostMemory(sizeof(uint32_t)).value();
    auto* const result = reinterpret_cast<uint32_t*>(crc->window().bytes.data());
    const int64_t start_ns = clock_.NowNs();
    for (uint64_t i = 0; i < blocks_; ++i) {
      const absl::Status status = queue->Crc32c(result, memory->window().bytes);
      if (!status.ok()) return Failed(name, status);
    }
    if (const absl::Status status = Wait(*queue); !status.ok()) return Failed(name, status);
    Report(name, start_ns);
    return true;
  }

  // The device without us.
  bool RunPlain() {
    const auto plain = MeasurePlain(*device_.device, block_bytes_, blocks_);
    if (!plain.ok()) return Failed("plain", plain.status());
    ReportRate("plain copies out", plain->copy_out);
    ReportRate("plain copies in", plain->copy_in);
    ReportRate("plain cufft", plain->fft);
    ReportRate("stage fft", plain->our_fft);
    return true;
  }

  const std::string& json() const { return json_; }

 private:
  void Report(const std::string& name, int64_t start_ns) {
    Report(name, blocks_, clock_.NowNs() - start_ns);
  }
  void Report(const std::string& name, uint64_t blocks, int64_t took_ns) {
    const double seconds = static_cast<double>(took_ns) * 1e-9;
    ReportRate(name, static_cast<double>(blocks * block_bytes_) / seconds / 1e6);
  }
  void ReportRate(const std::string& name, double rate) {
    std::printf("%-28s %10.0f MB/s\n", name.c_str(), rate);
    json_ += (json_.empty() ? "" : ", ") + ("\"" + name + "\": " + std::to_string(rate));
  }

  static bool Failed(const std::string& name, const absl::Status& status) {
    std::printf("%-28s %s\n", name.c_str(), status.ToString().c_str());
    return false;
  }

  // Drops the blocks, unless somebody holds them.
  static absl::Status Drain(dataplane::Source& source,
                            std::vector<dataplane::Block>* held = nullptr) {
    Signal signal;
    source.SetWaker(signal.waker());
    while (true) {
      dataplane::Block block;
      const auto flow = source.Pull(&block);
      if (!flow.ok()) return flow.status();
      if (*flow == dataplane::Flow::kEnd) return absl::OkStatus();
      if (*flow == dataplane::Flow::kNotNow && !signal.Wait()) return absl::AbortedError("stalled");
      if (*flow == dataplane::Flow::kMoved && held != nullptr) held->push_back(std::move(block));
    }
  }

  absl::StatusOr<pipeline::Playback> PlaybackOf(const pipeline::Recording& recording,
                                                const std::string& datatype, TestPlayback play) {
    play.origin = recording.origin;
    play.blocks = recording.expected_blocks;
    play.datatype = datatype;
    play.block_bytes = block_bytes_;
    return Play(device_, play);
  }

  absl::Status PlayHeld(const TestRecording& record, const TestPlayback& sink, int64_t& played_ns) {
    TD_ASSIGN_OR_RETURN(auto recording, Record(device_, record, clock_));
    std::vector<dataplane::Block> held;
    TD_RETURN_IF_ERROR(Drain(*recording.source, &held));
    TD_ASSIGN_OR_RETURN(auto playback, PlaybackOf(recording, record.datatype, sink));
    Signal signal;
    playback.sink->SetWaker(signal.waker());
    const int64_t start_ns = clock_.NowNs();
    for (dataplane::Block& block : held) {
      TD_RETURN_IF_ERROR(playback.sink->Push(&block).status());
    }
    while (true) {
      TD_ASSIGN_OR_RETURN(const auto flow, playback.sink->Finish(absl::OkStatus()));
      if (flow == dataplane::Flow::kEnd) break;
      if (!signal.Wait()) return absl::AbortedError("stalled");
    }
    played_ns += clock_.NowNs() - start_ns;
    return absl::OkStatus();
  }

  absl::Status PlayTo(pipeline::Recording& recording, const std::string& datatype,
                      const TestPlayback& play) {
    auto playback = PlaybackOf(recording, datatype, play);
    if (!playback.ok()) return playback.status();
    return Pump(*recording.source, *playback->sink);
  }

  const dataplane::SystemClock clock_{};
  const pipeline::DeviceChoice& device_;
  const uint64_t blocks_;
  const uint64_t block_bytes_;
  std::string json_;
};

int Main(int argc, char** argv) {
  auto device = pipeline::ChooseDevice(argc > 1 ? argv[1] : "auto");
  if (!device.ok()) return std::fprintf(stderr, "%s\n", device.status().ToString().c_str()), 1;
  std::printf("%s (%s)\n", device->description.c_str(), device->why.c_str());
  const auto number = [&](int index, uint64_t otherwise) {
    return argc > index ? std::strtoull(argv[index], nullptr, 10) : otherwise;
  };
  Bench bench(*device, number(2, 1000), number(3, 1 << 20));
  const TestPlayback to_null{.sink = Null()};
  const TestPlayback to_null_fft{.sink = Null(), .fft = 1024};
  const TestPlayback to_verify{.sink = Verify()};
  const TestRecording synth{.source = Synth()};
  const TestRecording synth_fft{.source = Synth(), .fft = 1024};
  // The ring in memory of the device, for rails that reach it.
  using dataplane::ladder::Rung;
  bool good = bench.RunCrc("crc32c");
  // All of them, whatever became of one.
  const auto run = [&](const std::string& name, const TestRecording& recording,
                       const TestPlayback* playback) {
    good = bench.Run(name, recording, playback) && good;
  };
  if (!device->device->info().works_in_host_memory) {
    good = bench.RunPlain() && good;
    const TestRecording direct{.source = Synth(), .rung = Rung::kPeerMemory};
    const TestRecording direct_fft{.source = Synth(), .fft = 1024, .rung = Rung::kPeerMemory};
    run("record synth, direct", direct, nullptr);
    run("record synth fft, direct", direct_fft, nullptr);
  }
  run("record synth", synth, nullptr);
  run("record synth fft", synth_fft, nullptr);
  run("record synth, play null", synth, &to_null);
  run("record synth, play fft null", synth, &to_null_fft);
  run("record synth, play verify", synth, &to_verify);
  run("record synth fft, play verify", synth_fft, &to_verify);
  good = bench.RunSink("verify", synth, to_verify) && good;
  good = bench.RunSink("verify fft", synth_fft, to_verify) && good;
  if (argc > 4) {
    const services::StageSpec file = FileSource(argv[4], /*loop=*/true);
    run("record file", {.datatype = "cu8", .source = file}, nullptr);
    const std::vector<services::StageSpec> spectra{Convert("cu8", "cf32_le"), Fft(1024)};
    run("record file fft", {.source = file, .transforms = spectra}, nullptr);
  }
  std::printf("{\"device\": \"%s\", \"mb_per_s\": {%s}}\n", device->description.c_str(),
              bench.json().c_str());
  return good ? 0 : 1;
}

}  // namespace
}  // namespace tapedeck::gpu_worker

int main(int argc, char** argv) { return tapedeck::gpu_worker::Main(argc, argv); }
