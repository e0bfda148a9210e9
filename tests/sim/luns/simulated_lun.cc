#include "tests/sim/luns/simulated_lun.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "tests/sim/luns/playing.h"

namespace tapedeck::sim {

using namespace storage_node;  // NOLINT: the names under test
namespace {

void PostLater(dataplane::Executor& executor, uint64_t hops, dataplane::Task task) {
  executor.Post([&executor, hops, task = std::move(task)]() mutable {
    if (hops == 0) return task();
    PostLater(executor, hops - 1, std::move(task));
  });
}

uint64_t UnitsFor(const Room& room, uint64_t blocks, uint64_t block_bytes) {
  const uint64_t bytes = (blocks + room.members - 1) / room.members * block_bytes;
  return (bytes + room.unit_bytes - 1) / room.unit_bytes + 1;  // and one of index
}

// Leases are of resource names: what is above the last slash is locked, too.
std::string LeaseName(const std::string& recording) { return "c/" + recording; }

}  // namespace

SimulatedLun::SimulatedLun(FaultDisk& disk, store::Store& store, const Room& room, Ledger* ledger,
                           uint64_t seed)
    : disk_(disk), store_(store), room_(room), ledger_(ledger), random_(seed) {
  disk_.fault = [this](const std::string& operation, uint32_t member) {
    Observe(operation);
    return fault_ ? fault_(operation, member) : absl::OkStatus();
  };
  disk_.later = [this](dataplane::Task task) {
    PostLater(executor_, random_() % 6, std::move(task));
  };
}

SimulatedLun::~SimulatedLun() {
  disk_.fault = nullptr;
  disk_.later = nullptr;
}

// Before the operation: what was said until now rests on what was flushed until now.
void SimulatedLun::Observe(const std::string& operation) {
  const bool deleting = std::ranges::any_of(
      *ledger_, [](const auto& entry) { return entry.second.state == Take::State::kGoing; });
  const uint64_t every = room_.operations_per_moment;
  if (random_() % (deleting ? every / 6 : every) != 0) return;
  look_();
  moments_.push_back({.disk = disk_, .ledger = *ledger_, .before = operation});
  moments_.back().disk.fault = nullptr;
  moments_.back().disk.later = nullptr;
  moments_.back().disk.stall_ns = nullptr;
  moments_.back().disk.completion = nullptr;
}

std::shared_ptr<dataplane::SlotPool> SimulatedLun::MakeRing(uint64_t block_bytes) {
  return *store_.MakeRing({.slots = kRingSlots, .slot_bytes = block_bytes});
}

bool SimulatedLun::MayGo(const Take& take) const {
  if (take.state == Take::State::kGoing) return true;
  return take.state == Take::State::kClosed && !take.manifest.kept;
}

// The oldest make room, each durably gone before its space is used.
absl::Status SimulatedLun::MakeRoom(uint64_t units) {
  uint64_t used = units;
  for (const auto& [number, take] : *ledger_) {
    if (take.state != Take::State::kGone) used += take.units;
  }
  for (auto& [number, take] : *ledger_) {
    if (used <= room_.units) break;
    if (!MayGo(take)) continue;
    const auto lease = leases_->TakeExclusive(LeaseName(take.path.recording));
    if (lease == nullptr) continue;
    TD_RETURN_IF_ERROR(Delete(take));
    used -= take.units;
  }
  if (used <= room_.units) return absl::OkStatus();
  return services::WithReason(absl::ResourceExhaustedError("luns/l is full"), "LUN_FULL",
                              {{"lun", "l"}});
}

absl::Status SimulatedLun::Delete(Take& take) {
  EXPECT_FALSE(take.wanted) << take.path.recording << " is kept, and goes";
  take.state = Take::State::kGoing;
  deleting_ = true;
  const absl::Status status = store_.DeleteRecording(take.path);
  deleting_ = false;
  if (status.ok()) take.state = Take::State::kGone;
  return status;
}

std::shared_ptr<storage_node::recording::Hold> SimulatedLun::Pin(const std::string& recording,
                                                                 bool writing) {
  if (writing) return leases_->TakeBeside(LeaseName(recording));
  for (const auto& [number, take] : *ledger_) {
    if (take.path.recording != recording || take.state != Take::State::kClosed) continue;
    return leases_->TakeShared(LeaseName(recording));
  }
  return nullptr;
}

absl::StatusOr<Made> SimulatedLun::Make(Take like, uint64_t blocks) {
  if (fault_) TD_RETURN_IF_ERROR(fault_("make", 0));
  format::Manifest& manifest = like.manifest;
  like.units = UnitsFor(room_, blocks, manifest.block_bytes);
  TD_RETURN_IF_ERROR(MakeRoom(like.units));
  const uint64_t number = ledger_->empty() ? 1 : ledger_->rbegin()->first + 1;
  if (like.stream == 0) like.stream = number;
  like.path = {.channel = "c", .recording = "r" + std::to_string(number)};
  manifest.id = like.path.recording;
  manifest.datatype = "cu8";
  manifest.members = room_.members;
  manifest.identity.channel = "c";
  manifest.identity.epoch = static_cast<uint32_t>(number);
  manifest.identity.recording.bytes[0] = static_cast<std::byte>(number);
  manifest.identity.recording.bytes[1] = static_cast<std::byte>(number >> 8);
  TD_ASSIGN_OR_RETURN(auto files,
                      store_.Open(like.path, store::ToCreate(manifest.block_bytes), executor_));
  Take& take = (*ledger_)[number] = std::move(like);
  Made made{.take = &take,
            .recording = {.name = take.path.recording,
                          .live = std::make_shared<recording::LiveRecording>()}};
  made.recording.writer = std::make_unique<recording::RecordingWriter>(
      recording::WriterOptions{.name = made.recording.name,
                               .manifest = take.manifest,
                               .ring_slots = kRingSlots,
                               .capacity = std::make_shared<recording::Capacity>(0),
                               .live = made.recording.live,
                               .on_sealed =
                                   [this, &take](const auto& sealed, const auto& done) {
                                     OnSealed(take, sealed);
                                     done();
                                   },
                               .lease = leases_->TakeExclusive(LeaseName(made.recording.name))},
      std::move(files), executor_);
  return made;
}

// What ended before its first block was written goes away, as in a node, also when it was to be
// kept.
void SimulatedLun::OnSealed(Take& take, const format::Manifest& manifest) {
  if (manifest.blocks == 0 && !manifest.cause.empty()) {
    EXPECT_EQ(take.acknowledged, 0u) << take.path.recording << " had blocks, and goes";
    take.wanted = false;
    Delete(take).IgnoreError();
    return;
  }
  EXPECT_TRUE(manifest.kept || !take.wanted) << take.path.recording << " is not kept";
  take.manifest = manifest;
  take.held = BlocksOf(manifest);
  take.state = Take::State::kClosed;
}

}  // namespace tapedeck::sim
