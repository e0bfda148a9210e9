#include "gpu_worker/pipeline/memory_ladder.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "gpu_worker/device/await_queue.h"
#include "services/model/words/names.h"

namespace tapedeck::gpu_worker::pipeline {

using dataplane::Direction;
using dataplane::ladder::Evidence;
using dataplane::ladder::ProbeMemory;
using dataplane::ladder::ProbeResult;
using dataplane::ladder::RungChoice;

namespace {

// One block of the usual size.
constexpr size_t kProbeBytes = 1 << 20;

// Whether the rail, once it is up, may answer differently.
bool MayPass(const Evidence& evidence) {
  const auto passing = [](const absl::Status& status) {
    return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
  };
  return passing(evidence.dma_buf.status) || passing(evidence.peer_memory.status);
}

// How the probe fills and reads memory of the device: through pinned memory, by the device itself.
class DeviceCopies {
 public:
  static absl::StatusOr<std::shared_ptr<DeviceCopies>> Create(device::Device& device) {
    auto copies = std::shared_ptr<DeviceCopies>(new DeviceCopies(*device.direct()));
    TD_ASSIGN_OR_RETURN(copies->pinned_, device.NewHostMemory(kProbeBytes));
    TD_ASSIGN_OR_RETURN(copies->queue_, device.NewQueue());
    return copies;
  }

  absl::Status Write(std::byte* device, std::span<const std::byte> from) {
    std::byte* const pinned = pinned_->window().bytes.data();
    std::memcpy(pinned, from.data(), from.size());
    TD_RETURN_IF_ERROR(queue_->CopyToDevice(device, pinned, from.size()));
    return device::AwaitQueue(*queue_);
  }

  absl::Status Read(std::span<std::byte> to, const std::byte* device) {
    TD_RETURN_IF_ERROR(direct_.MakeVisible());
    std::byte* const pinned = pinned_->window().bytes.data();
    TD_RETURN_IF_ERROR(queue_->CopyToHost(pinned, device, to.size()));
    TD_RETURN_IF_ERROR(device::AwaitQueue(*queue_));
    std::memcpy(to.data(), pinned, to.size());
    return absl::OkStatus();
  }

 private:
  explicit DeviceCopies(device::DirectAccess& direct) : direct_(direct) {}

  device::DirectAccess& direct_;
  std::unique_ptr<dataplane::Memory> pinned_;
  std::unique_ptr<device::Queue> queue_;  // goes first
};

ProbeResult ProbeWith(dataplane::Transport& rail, Direction direction, ProbeMemory memory,
                      bool dma_buf) {
  if (dma_buf && memory.window.dma_buf_fd < 0) {
    return {.status = absl::UnimplementedError("the driver exports none, the log says why")};
  }
  if (!dma_buf) memory.window.dma_buf_fd = -1;
  return dataplane::ladder::Probe(rail, direction, memory);
}

}  // namespace

MemoryLadder::MemoryLadder(device::Device& device, std::vector<dataplane::Transport*> rails)
    : device_(device) {
  if (device_.info().works_in_host_memory) return;
  absl::MutexLock lock(&mutex_);
  for (dataplane::Transport* rail : rails) {
    for (const Direction direction : {Direction::kRecord, Direction::kPlayback}) {
      probed_.push_back(
          {.rail = rail, .direction = direction, .evidence = Probe(*rail, direction)});
    }
  }
}

absl::StatusOr<ProbeMemory> MemoryLadder::NewProbeMemory(Direction direction) {
  device::DirectAccess& direct = *device_.direct();
  // What is played must be seen by the device, however well it arrives.
  if (direction == Direction::kPlayback) TD_RETURN_IF_ERROR(direct.visibility());
  TD_RETURN_IF_ERROR(direct.CheckRoom(kProbeBytes));
  ProbeMemory probe;
  TD_ASSIGN_OR_RETURN(probe.memory, direct.NewRingMemory(kProbeBytes));
  TD_ASSIGN_OR_RETURN(probe.host, device_.NewHostMemory(kProbeBytes));
  TD_ASSIGN_OR_RETURN(const auto copies, DeviceCopies::Create(device_));
  probe.window = probe.memory->window();
  std::byte* const address = probe.window.bytes.data();
  probe.write = [copies, address](auto from) { return copies->Write(address, from); };
  probe.read = [copies, address](auto to) { return copies->Read(to, address); };
  return probe;
}

Evidence MemoryLadder::Probe(dataplane::Transport& rail, Direction direction) {
  Evidence evidence{.rail = rail.rail().name,
                    .wire_limit_bytes_per_s = rail.rail().wire_limit_bytes_per_s};
  if (rail.rail().transport == dataplane::kIpcTransport) {
    evidence.peer_copy = device_.peer()->NewSharedMemory(kProbeBytes).status();
    // No port has a part in it.
    evidence.dma_buf.status =
        evidence.peer_copy.ok() ? absl::UnimplementedError("no port") : evidence.peer_copy;
    evidence.peer_memory.status = evidence.dma_buf.status;
  } else if (const absl::StatusOr<ProbeMemory> memory = NewProbeMemory(direction); memory.ok()) {
    evidence.dma_buf = ProbeWith(rail, direction, *memory, true);
    evidence.peer_memory = ProbeWith(rail, direction, *memory, false);
  } else {
    evidence.dma_buf.status = memory.status();
    evidence.peer_memory.status = memory.status();
  }
  const RungChoice choice = ChooseRung(evidence);
  dataplane::Log(dataplane::LogLevel::kInfo, "ladder", "rung chosen",
                 {{"rail", evidence.rail},
                  {"device", device_.info().description},
                  {"direction", services::model::LabelOf(direction)},
                  {"rung", std::string(dataplane::ladder::NameOf(choice.rung))},
                  {"why", choice.why}});
  return evidence;
}

RungChoice MemoryLadder::Choose(const std::vector<dataplane::Transport*>& rails,
                                Direction direction) {
  std::vector<Probed> asked;
  {
    absl::MutexLock lock(&mutex_);
    std::ranges::copy_if(probed_, std::back_inserter(asked), [&](const Probed& probed) {
      return probed.direction == direction && std::ranges::count(rails, probed.rail) > 0;
    });
  }
  std::vector<Evidence> evidence;
  for (Probed& probed : asked) {
    if (MayPass(probed.evidence)) probed.evidence = Probe(*probed.rail, direction);
    evidence.push_back(probed.evidence);
    absl::MutexLock lock(&mutex_);
    for (Probed& known : probed_) {
      if (known.rail == probed.rail && known.direction == direction) known = probed;
    }
  }
  return ChooseRung(evidence);
}

std::vector<MemoryLadder::Chosen> MemoryLadder::Choices() const {
  absl::MutexLock lock(&mutex_);
  std::vector<Chosen> choices;
  for (const Probed& probed : probed_) {
    choices.push_back({.rail = probed.evidence.rail,
                       .direction = probed.direction,
                       .choice = ChooseRung(probed.evidence)});
  }
  return choices;
}

std::vector<std::string> MemoryLadder::Describe() const {
  std::vector<std::string> lines;
  for (const Chosen& chosen : Choices()) {
    lines.push_back(absl::StrCat(chosen.rail, " ", services::model::LabelOf(chosen.direction), ": ",
                                 dataplane::ladder::NameOf(chosen.choice.rung), ": ",
                                 chosen.choice.why));
  }
  return lines;
}

}  // namespace tapedeck::gpu_worker::pipeline
