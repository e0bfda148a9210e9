#include "tests/sim/disks/fault_device.h"

#include <cerrno>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/engine/under_way.h"
#include "storage_node/store/device/device.h"
#include "storage_node/store/device/store.h"
#include "storage_node/store/stripe/store.h"

namespace tapedeck::sim {
namespace {

using dataplane::Task;
using storage_node::store::device::Device;
namespace device = storage_node::store::device;
namespace engine = storage_node::engine;
namespace stripe = storage_node::store::stripe;

// Work that a device does later. Held by shared_ptr: by the device, which finishes it, and by each
// turn that is still to come.
class WorkQueue {
 public:
  // `in_order`: as a thread does it.
  static void Add(const std::shared_ptr<WorkQueue>& queue, FaultDisk& disk, bool in_order,
                  Task work) {
    queue->work_.push_back(std::move(work));
    const size_t turn = in_order ? 0 : disk.random();
    if (!disk.later) return queue->RunOne(turn);
    disk.later([queue, turn] { queue->RunOne(turn); });
  }

  void Finish() {
    while (!work_.empty()) RunOne(0);
  }

 private:
  void RunOne(size_t turn) {
    if (work_.empty()) return;
    const auto it = work_.begin() + static_cast<ptrdiff_t>(turn % work_.size());
    Task work = std::move(*it);
    work_.erase(it);
    work();
  }

  std::deque<Task> work_;
};

// Transfers of payload: a write ends some time after it began, and in any order.
class FaultEngine final : public engine::Engine {
 public:
  FaultEngine(FaultDisk& disk, uint32_t member) : disk_(disk), member_(member) {}

  void Start(engine::Transfer transfer) override {
    Ask(std::make_unique<engine::UnderWay>(std::move(transfer)));
  }
  void AddFile(int /*fd*/) override {}
  void RemoveFile(int /*fd*/) override {}
  std::unique_ptr<dataplane::Memory> Adopt(std::unique_ptr<dataplane::Memory> memory) override {
    return memory;
  }
  std::string description() const override { return "simulated"; }

  void Finish() { under_way_->Finish(); }

 private:
  void Ask(std::unique_ptr<engine::UnderWay> work) {
    const int64_t result = ResultOf(*work);
    DiskImage& image = disk_.devices[member_];
    std::optional<uint64_t> written;
    if (result > 0) {
      const std::span<std::byte> bytes = work->rest().first(static_cast<size_t>(result));
      if (work->write()) {
        if (image.HoldsAnything(work->offset(), bytes.size())) ++disk_.reused;
        written = image.Write(work->offset(), bytes);
      } else {
        image.Read(work->offset(), bytes);
      }
    }
    Task end = [this, &image, written, result, work = std::move(work)]() mutable {
      if (written.has_value()) image.Complete(*written);
      if (!work->Take(result)) Ask(std::move(work));
    };
    WorkQueue::Add(under_way_, disk_, /*in_order=*/false, std::move(end));
  }

  int64_t ResultOf(const engine::UnderWay& work) {
    const absl::Status status = work.write() ? disk_.Next("write", member_) : disk_.Power("read");
    if (!status.ok()) return absl::IsResourceExhausted(status) ? -ENOSPC : -EIO;
    const size_t bytes = work.rest().size();
    return disk_.completion ? disk_.completion(work.write(), bytes) : static_cast<int64_t>(bytes);
  }

  FaultDisk& disk_;
  const uint32_t member_;
  const std::shared_ptr<WorkQueue> under_way_ = std::make_shared<WorkQueue>();
};

class FaultDevice final : public Device {
 public:
  FaultDevice(FaultDisk& disk, uint32_t member)
      : Device(absl::StrCat("m", member), disk.devices[member].bytes(), /*fd=*/-1),
        disk_(disk),
        member_(member),
        engine_(disk, member) {}
  ~FaultDevice() override {
    io_->Finish();
    sync_->Finish();
    engine_.Finish();
  }

  engine::Engine& engine() override { return engine_; }
  void Run(Thread thread, Task work) override {
    WorkQueue::Add(thread == Thread::kIo ? io_ : sync_, disk_, /*in_order=*/true, std::move(work));
  }
  absl::Status Read(std::span<std::byte> into, uint64_t offset) const override {
    TD_RETURN_IF_ERROR(disk_.Power("read table"));
    image().Read(offset, into);
    return absl::OkStatus();
  }
  absl::Status Write(std::span<const std::byte> bytes, uint64_t offset) const override {
    TD_RETURN_IF_ERROR(disk_.Next("write table", member_));
    image().Complete(image().Write(offset, bytes));
    return absl::OkStatus();
  }

 private:
  absl::Status Sync() override {
    TD_RETURN_IF_ERROR(disk_.Next("flush", member_));
    image().Flush();
    return absl::OkStatus();
  }
  DiskImage& image() const { return disk_.devices[member_]; }

  FaultDisk& disk_;
  const uint32_t member_;
  FaultEngine engine_;
  const std::shared_ptr<WorkQueue> io_ = std::make_shared<WorkQueue>();
  const std::shared_ptr<WorkQueue> sync_ = std::make_shared<WorkQueue>();
};

services::Lun LunOf(const FaultDisk& disk) {
  services::Lun lun{
      .name = "luns/l", .uid = "00112233-4455-4677-8899-aabbccddeeff", .store = "device"};
  for (size_t m = 0; m < disk.devices.size(); ++m) lun.members.push_back(absl::StrCat("m", m));
  return lun;
}

storage_node::store::MemberStore MembersOf(FaultDisk& disk) {
  return {.create =
              [&disk](const services::Lun& lun, uint32_t m) {
                return device::CreateOn(std::make_unique<FaultDevice>(disk, m), lun, m);
              },
          .open =
              [&disk](const services::Lun& lun, uint32_t m) {
                return device::OpenOn(std::make_unique<FaultDevice>(disk, m), lun, m);
              },
          .remove = [](const services::Lun&, uint32_t) { return absl::OkStatus(); }};
}

}  // namespace

absl::StatusOr<std::unique_ptr<storage_node::store::Store>> MakeDeviceLun(FaultDisk& disk) {
  return stripe::Create(MembersOf(disk), LunOf(disk));
}

absl::StatusOr<std::unique_ptr<storage_node::store::Store>> OpenDeviceLun(FaultDisk& disk) {
  return stripe::Open(MembersOf(disk), LunOf(disk));
}

}  // namespace tapedeck::sim
