// Copies between memory of two processes on one device, as rails of kind ipc make them, beside the
// same copies enqueued by hand: a line of JSON for each size.
//   gpu_worker_peer measure [DEVICE [SECONDS [OWNER]]]      OWNER: the device of the other process
//   gpu_worker_peer own DEVICE BYTES      the other process; the program starts it itself

#include <chrono>
#include <cstdio>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/peer_copies.h"
#include "gpu_worker/pipeline/device_choice.h"
#include "tests/gpu_worker/device/devices.h"
#include "tests/gpu_worker/device/peer_owner.h"

namespace tapedeck::gpu_worker {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kBytes = size_t{256} << 20;
constexpr uint64_t kUnderWay = 64;

double MegabytesPerS(uint64_t bytes, Clock::time_point since) {
  return static_cast<double>(bytes) / 1e6 /
         std::chrono::duration<double>(Clock::now() - since).count();
}

// How many copies are under way.
class Window {
 public:
  void Enter() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &Window::HasRoom));
    ++under_way_;
  }
  void Leave(const absl::Status& status) {
    absl::MutexLock lock(&mutex_);
    --under_way_;
    status_.Update(status);
  }
  absl::Status AwaitAll() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &Window::Empty));
    return status_;
  }

 private:
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return under_way_ < kUnderWay; }
  bool Empty() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return under_way_ == 0; }

  absl::Mutex mutex_;
  uint64_t under_way_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<double> MeasurePath(dataplane::PeerPath& path, std::span<std::byte> local,
                                   size_t size, double seconds) {
  Window window;
  uint64_t bytes = 0;
  const Clock::time_point begin = Clock::now();
  while (Clock::now() - begin < std::chrono::duration<double>(seconds)) {
    const size_t offset = bytes % kBytes;
    window.Enter();
    path.Read(local.subspan(offset, size), offset,
              [&window](const absl::Status& status) { window.Leave(status); });
    bytes += size;
  }
  TD_RETURN_IF_ERROR(window.AwaitAll());
  return MegabytesPerS(bytes, begin);
}

absl::StatusOr<double> MeasurePlain(device::Queue& queue, std::span<const std::byte> peer,
                                    std::span<std::byte> local, size_t size, double seconds) {
  uint64_t bytes = 0;
  const Clock::time_point begin = Clock::now();
  while (Clock::now() - begin < std::chrono::duration<double>(seconds)) {
    for (uint64_t i = 0; i < kUnderWay; ++i, bytes += size) {
      const size_t offset = bytes % kBytes;
      TD_RETURN_IF_ERROR(queue.CopyOnDevice(local.data() + offset, peer.data() + offset, size));
    }
    TD_RETURN_IF_ERROR(Wait(queue));
  }
  return MegabytesPerS(bytes, begin);
}

absl::Status Measure(const std::string& text, double seconds, const std::string& owner_device) {
  TD_ASSIGN_OR_RETURN(const pipeline::DeviceChoice choice, pipeline::ChooseDevice(text));
  device::Device& device = *choice.device;
  TD_ASSIGN_OR_RETURN(
      const auto owner,
      PeerOwner::Start(owner_device.empty() ? device.info().name : owner_device, kBytes));
  device::DevicePeerCopies copies({&device});
  TD_ASSIGN_OR_RETURN(const auto memory, device.peer()->NewSharedMemory(kBytes));
  TD_ASSIGN_OR_RETURN(const auto path, copies.Open(owner->share(), memory->window()));
  TD_ASSIGN_OR_RETURN(const auto peer, device.peer()->Open(owner->share()));
  TD_ASSIGN_OR_RETURN(const auto queue, device.NewQueue());
  const std::span<std::byte> local = memory->window().bytes;
  for (const size_t size : {size_t{64} << 10, size_t{1} << 20, size_t{8} << 20}) {
    TD_ASSIGN_OR_RETURN(const double ours, MeasurePath(*path, local, size, seconds));
    TD_ASSIGN_OR_RETURN(const double plain,
                        MeasurePlain(*queue, peer->window().bytes, local, size, seconds));
    std::printf(
        "{\"device\":\"%s\",\"bytes\":%zu,\"peer_copy_mb_per_s\":%.0f,\"plain_mb_per_s\":%.0f,"
        "\"peer_copy_to_plain\":%.3f}\n",
        choice.description.c_str(), size, ours, plain, ours / plain);
  }
  return absl::OkStatus();
}

absl::Status Run(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  size_t bytes = 0;
  double seconds = 1;
  if (mode == "own" && argc == 4 && absl::SimpleAtoi(argv[3], &bytes)) {
    return OwnMemory(argv[2], bytes);
  }
  if (mode == "measure" && (argc < 4 || absl::SimpleAtod(argv[3], &seconds))) {
    return Measure(argc > 2 ? argv[2] : "auto", seconds, argc > 4 ? argv[4] : "");
  }
  return absl::InvalidArgumentError("gpu_worker_peer measure [DEVICE [SECONDS [OWNER]]]");
}

}  // namespace
}  // namespace tapedeck::gpu_worker

int main(int argc, char** argv) {
  const absl::Status status = tapedeck::gpu_worker::Run(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "gpu_worker_peer: %s\n", status.ToString().c_str());
  return 1;
}
