// What the library costs a program with kernels: one line of JSON for one way to record.
//   gpu_worker_stream_bench WAY MODE STORAGE RAILS CHANNEL SECONDS [BLOCKS_PER_S]
//   gpu_worker_stream_bench latency
//   gpu_worker_stream_bench profile WAY MODE STORAGE RAILS CHANNEL SECONDS
// Profile counts the calls of the driver, of all threads, and those in which the CPU waits for the
// GPU, for each block. Latency is from a stream to the proxy and back. WAY: host (the CPU waits for
// each block's kernel), stream (it waits for none), graph, or kernel (one that does all by itself).
// MODE: performance or economy, of the proxy.

#include <cuda_runtime.h>
#include <dirent.h>
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_split.h"
#include "gpu_worker/api/include/tapedeck/kernel_channel.h"
#include "gpu_worker/api/include/tapedeck/recorder.h"
#include "gpu_worker/api/proxy/proxy.h"
#include "gpu_worker/api/slots/slot_control.h"
#include "gpu_worker/device/choose.h"
#ifdef TAPEDECK_CUPTI
#include "tests/gpu_worker/api/driver_calls.h"
#endif
#include "tests/gpu_worker/api/kernels.h"

namespace tapedeck::gpu_worker::api {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono_literals::operator""s;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void Die(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::exit(1);
}

template <typename T>
T Must(Result<T> result) {
  if (!result.ok()) Die(result.status().ToString());
  return std::move(*result);
}
void Must(const Status& status) {
  if (!status.ok()) Die(status.ToString());
}
void Must(cudaError_t error) {
  if (error != cudaSuccess) Die(cudaGetErrorString(error));
}

// Answers the first line's flag on the second's, as a slot that is free at once would.
class Echo final : public Watched {
 public:
  explicit Echo(SlotControl& control) : control_(control) {}
  bool Look() override {
    if (control_.Flag(0) == 0) return false;
    control_.SetFlag(0, 0);
    control_.SetFlag(1, 1);
    return true;
  }
  bool expects() const override { return true; }

 private:
  SlotControl& control_;
};

int Latency() {
  constexpr int kRounds = 2000;
  auto chosen = device::Choose("cuda:0");
  if (!chosen.ok()) Die(chosen.status().ToString());
  const auto control = SlotControl::Create(*chosen->device, 2).value();
  const auto proxy = Proxy::Create(ProxyMode::kPerformance).value();
  const auto echo = std::make_shared<Echo>(*control);
  proxy->Watch(echo);
  std::vector<double> times;
  for (int run = 0; run < 10; ++run) {
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    Must(cudaEventCreate(&begin));
    Must(cudaEventCreate(&end));
    cudaStream_t stream = nullptr;
    Must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    Must(cudaEventRecord(begin, stream));
    device::StreamOrder& order = control->order();
    for (int i = 0; i < kRounds; ++i) {
      if (!order.SetFlag(stream, &control->line(0).flag, 1).ok() ||
          !order.AwaitFlag(stream, &control->line(1).flag, device::StreamOrder::Until::kNotZero)
               .ok() ||
          !order.SetFlag(stream, &control->line(1).flag, 0).ok()) {
        Die("a stream memory operation failed");
      }
    }
    Must(cudaEventRecord(end, stream));
    Must(cudaStreamSynchronize(stream));
    float ms = 0;
    Must(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms * 1e3 / kRounds);
    Must(cudaStreamDestroy(stream));
  }
  std::sort(times.begin(), times.end());
  proxy->Leave(*echo);
  std::printf("{\"stream_proxy_stream_us\": %.2f}\n", times[times.size() / 2]);
  return 0;
}

double CpuSeconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

// Of the thread of that name, by /proc.
double CpuSecondsOf(const std::string& name) {
  double seconds = 0;
  DIR* const tasks = opendir("/proc/self/task");
  for (dirent* entry = readdir(tasks); entry != nullptr; entry = readdir(tasks)) {
    const std::string folder = std::string("/proc/self/task/") + entry->d_name;
    std::string comm;
    std::getline(std::ifstream(folder + "/comm"), comm);
    if (comm != name) continue;
    // schedstat: nanoseconds on a processor, to the nanosecond.
    unsigned long long ns = 0;
    std::ifstream(folder + "/schedstat") >> ns;
    seconds += 1e-9 * double(ns);
  }
  closedir(tasks);
  return seconds;
}

struct Order {
  std::string way, mode, storage;
  std::vector<std::string> rails;
  std::string channel;
  double seconds = 1;
  double blocks_per_s = 0;  // 0: as many as it can
};

// Kernels of one stream fill and send.
class Program {
 public:
  Program(Recorder& recorder, const Order& order) : recorder_(recorder), order_(order) {
    Must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    Must(cudaMalloc(&number_, sizeof *number_));
    Must(cudaMemset(number_, 0, sizeof *number_));
  }

  void Run() {
    if (order_.way == "kernel") return RunKernel();
    if (order_.way == "graph") Capture();
    for (start_ = Clock::now(); SecondsSince(start_) < order_.seconds;) {
      Pace();
      if (order_.way == "host") HostStep();
      if (order_.way == "stream") StreamStep();
      if (order_.way == "graph") Must(cudaGraphLaunch(graph_, stream_));
      ++steps_;
    }
    Must(cudaStreamSynchronize(stream_));
  }

 private:
  // The CPU sleeps until it is over.
  void RunKernel() {
    KernelChannel channel;
    uint32_t* stop = nullptr;
    Must(LoadRecord());
    Must(cudaMallocHost(&stop, sizeof *stop));
    *stop = 0;
    Must(recorder_.GiveToKernels(&channel));
    LaunchRecord(channel, stop, stream_);
    Must(cudaGetLastError());
    std::this_thread::sleep_for(std::chrono::duration<double>(order_.seconds));
    sockets::StoreRelease(stop, uint32_t{1});
    Must(cudaStreamSynchronize(stream_));
  }
  void Pace() const {
    if (order_.blocks_per_s == 0) return;
    const double due = double(steps_) / order_.blocks_per_s;
    while (SecondsSince(start_) < due) {
      const timespec pause{0, 100'000};
      nanosleep(&pause, nullptr);
    }
  }
  void HostStep() {
    const Slot slot = Must(recorder_.Acquire(10s));
    LaunchFill(slot.data, slot.bytes, slot.number, stream_);
    Must(cudaStreamSynchronize(stream_));
    Must(recorder_.Send(slot, slot.bytes));
  }
  void StreamStep() {
    const Slot slot = Must(recorder_.Acquire(stream_));
    LaunchFill(slot.data, slot.bytes, slot.number, stream_);
    Must(recorder_.Send(stream_, slot, slot.bytes));
  }
  void Capture() {
    Must(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    for (size_t i = 0; i < recorder_.slots(); ++i) {
      const Slot slot = Must(recorder_.Acquire(stream_));
      LaunchFillNext(slot.data, slot.bytes, number_, stream_);
      Must(recorder_.Send(stream_, slot, slot.bytes));
    }
    cudaGraph_t graph = nullptr;
    Must(cudaStreamEndCapture(stream_, &graph));
    Must(cudaGraphInstantiate(&graph_, graph, 0));
  }

  Recorder& recorder_;
  const Order& order_;
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
  uint64_t* number_ = nullptr;
  Clock::time_point start_;
  uint64_t steps_ = 0;
};

Result<Deck> DeckOf(const Order& order) {
  DeckOptions options;
  options.device = "cuda:0";
  options.rails = order.rails;
  options.connections_per_rail = 2;
  options.wait = order.mode == "economy" ? Wait::kEconomy : Wait::kPerformance;
  return Deck::Open(options);
}

Result<Recorder> RecorderOf(const Deck& deck, const Order& order) {
  RecorderOptions what;
  what.storage = order.storage;
  what.channel = order.channel;
  return Recorder::Open(deck, what);
}

int Record(const Order& order) {
  const Deck deck = Must(DeckOf(order));
  Recorder recorder = Must(RecorderOf(deck, order));
  Program program(recorder, order);
  const double cpu = CpuSeconds(CLOCK_PROCESS_CPUTIME_ID);
  const double proxy = CpuSecondsOf("slot-proxy");
  const double caller = CpuSeconds(CLOCK_THREAD_CPUTIME_ID);
  const Clock::time_point start = Clock::now();
  program.Run();
  const double caller_share = (CpuSeconds(CLOCK_THREAD_CPUTIME_ID) - caller) / SecondsSince(start);
  const double proxy_share = (CpuSecondsOf("slot-proxy") - proxy) / SecondsSince(start);
  const RecorderProgress done = Must(recorder.Finish(60s));
  const double elapsed = SecondsSince(start);
  const double share = (CpuSeconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / elapsed;
  std::printf(
      "{\"mb_per_s\": %.1f, \"blocks_per_s\": %.0f, \"cores\": %.3f, \"proxy_cores\": %.4f, "
      "\"caller_cores\": %.3f}\n",
      double(done.sent) * double(recorder.block_bytes()) / 1e6 / elapsed,
      double(done.sent) / elapsed, share, proxy_share, caller_share);
  return 0;
}

#ifdef TAPEDECK_CUPTI
int Profile(const Order& order) {
  const Deck deck = Must(DeckOf(order));
  Recorder recorder = Must(RecorderOf(deck, order));
  Program program(recorder, order);
  const auto calls = DriverCalls::Count();
  if (calls == nullptr) return 1;
  const auto before = calls->Made();
  program.Run();
  const auto after = calls->Made();
  const double blocks = double(Must(recorder.Finish(60s)).sent);
  std::map<std::string, uint64_t> made;
  for (const auto& [name, count] : after) {
    const auto had = before.find(name);
    made[name] = count - (had == before.end() ? 0 : had->second);
  }
  for (const auto& [name, count] : made) {
    std::fprintf(stderr, "%s %s %.3f\n", order.way.c_str(), name.c_str(), double(count) / blocks);
  }
  std::printf("{\"waits_per_block\": %.4f, \"profiled_blocks\": %.0f}\n",
              double(WaitsIn(made)) / blocks, blocks);
  return 0;
}
#else
int Profile(const Order&) { Die("this build has no CUPTI, which counts the calls of the driver"); }
#endif

}  // namespace
}  // namespace tapedeck::gpu_worker::api

int main(int argc, char** argv) {
  namespace api = tapedeck::gpu_worker::api;
  if (argc == 2 && std::string(argv[1]) == "latency") return api::Latency();
  const bool profile = argc == 8 && std::string(argv[1]) == "profile";
  if (profile) ++argv, --argc;
  if (argc != 7 && argc != 8) {
    api::Die("latency, or [profile] WAY MODE STORAGE RAILS CHANNEL SECONDS [RATE]");
  }
  const api::Order order{.way = argv[1],
                         .mode = argv[2],
                         .storage = argv[3],
                         .rails = absl::StrSplit(argv[4], ','),
                         .channel = argv[5],
                         .seconds = std::atof(argv[6]),
                         .blocks_per_s = argc == 8 ? std::atof(argv[7]) : 0};
  return profile ? api::Profile(order) : api::Record(order);
}
