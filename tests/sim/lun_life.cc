#include "tests/sim/lun_life.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dataplane/crc32c.h"
#include "tests/sim/fingerprint.h"
#include "tests/sim/playing.h"

namespace tapedeck::sim {

using namespace storage_node;  // NOLINT: the names under test
namespace {

constexpr size_t kSlots = 8;
constexpr size_t kAtOnce = 2;
constexpr uint64_t kMaxBlocks = 14;
// One operation in so many is looked at; while a deletion is under way one in two.
constexpr uint64_t kOperationsPerMoment = 12;

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

}  // namespace

void Take::Fill(uint64_t sequence, std::span<std::byte> payload) const {
  const uint64_t word = Join(manifest.identity.epoch, sequence);
  for (size_t i = 0; i + sizeof(word) <= payload.size(); i += sizeof(word)) {
    std::memcpy(&payload[i], &word, sizeof(word));
  }
}

bool Take::IsRight(uint64_t sequence, std::span<const std::byte> payload) const {
  if (payload.size() != manifest.block_bytes) return false;
  const uint64_t word = Join(manifest.identity.epoch, sequence);
  const size_t rest = payload.size() - sizeof(word);
  return std::memcmp(payload.data(), &word, sizeof(word)) == 0 &&
         std::memcmp(payload.data(), payload.data() + sizeof(word), rest) == 0;
}

LunLife::LunLife(FaultDisk& disk, store::Store& store, const Room& room, Ledger* ledger,
                 uint64_t seed)
    : disk_(disk), store_(store), room_(room), ledger_(ledger), random_(seed) {
  disk_.fault = [this](const std::string& operation, uint32_t) {
    Observe(operation);
    return absl::OkStatus();
  };
  disk_.later = [this](dataplane::Task task) {
    PostLater(executor_, random_() % 6, std::move(task));
  };
}

LunLife::~LunLife() {
  disk_.fault = nullptr;
  disk_.later = nullptr;
}

std::vector<Moment> LunLife::Run(uint64_t takes) {
  takes_left_ = takes;
  EXPECT_TRUE(executor_.RunUntil([this] {
    Turn();
    return takes_left_ == 0 && writing_.empty();
  }));
  return std::move(moments_);
}

// Before the operation: what was said until now rests on what was flushed until now.
void LunLife::Observe(const std::string& operation) {
  const bool deleting = std::ranges::any_of(
      *ledger_, [](const auto& entry) { return entry.second.state == Take::State::kGoing; });
  if (random_() % (deleting ? 2 : kOperationsPerMoment) != 0) return;
  for (const Writing& writing : writing_) {
    if (writing.writer == nullptr) continue;
    uint64_t& acknowledged = writing.take->acknowledged;
    acknowledged = std::max(acknowledged, writing.writer->watermarks().durable);
  }
  moments_.push_back({.disk = disk_, .ledger = *ledger_, .before = operation});
  moments_.back().disk.fault = nullptr;
  moments_.back().disk.later = nullptr;
}

void LunLife::Turn() {
  for (Writing& writing : writing_) Step(writing);
  writing_.remove_if([](const Writing& writing) { return writing.sealed; });
  if (takes_left_ > 0 && writing_.size() < kAtOnce && random_() % 16 == 0) Begin();
  if (random_() % 512 == 0) DeleteAny();
}

// The oldest that are closed make room, each durably gone before its space is used.
bool LunLife::MakeRoom(uint64_t units) {
  uint64_t used = units;
  for (const auto& [number, take] : *ledger_) {
    if (take.state != Take::State::kGone) used += take.units;
  }
  for (auto& [number, take] : *ledger_) {
    if (used <= room_.units) break;
    if (take.state != Take::State::kClosed && take.state != Take::State::kGoing) continue;
    Delete(take);
    used -= take.units;
  }
  return used <= room_.units;
}

void LunLife::Begin() {
  const uint64_t blocks = 1 + random_() % kMaxBlocks;
  const uint64_t block_bytes = room_.block_bytes[random_() % room_.block_bytes.size()];
  const uint64_t units = UnitsFor(room_, blocks, block_bytes);
  if (!MakeRoom(units)) return;
  const uint64_t number = ledger_->empty() ? 1 : ledger_->rbegin()->first + 1;
  Take& take = (*ledger_)[number];
  take.path = {.channel = "c", .recording = "r" + std::to_string(number)};
  take.units = units;
  take.manifest = {.id = take.path.recording, .members = room_.members, .block_bytes = block_bytes};
  take.manifest.identity.channel = "c";
  take.manifest.identity.epoch = static_cast<uint32_t>(number);
  take.manifest.identity.recording.bytes[0] = static_cast<std::byte>(number);
  auto files = store_.CreateRecording(take.path, block_bytes, executor_);
  ASSERT_TRUE(files.ok()) << files.status();
  --takes_left_;
  Writing& writing = writing_.emplace_back(
      Writing{.take = &take,
              .blocks = blocks,
              .ring = *store_.MakeRing({.slots = kSlots, .slot_bytes = block_bytes})});
  writing.writer = std::make_unique<RecordingWriter>(
      WriterOptions{.name = take.path.recording,
                    .manifest = take.manifest,
                    .ring_slots = kSlots,
                    .capacity = std::make_shared<Capacity>(0),
                    .live = std::make_shared<LiveRecording>(),
                    .on_sealed =
                        [&writing](const format::Manifest& manifest) {
                          writing.sealed = true;
                          writing.take->state = Take::State::kClosed;
                          writing.take->held = BlocksOf(manifest);
                        }},
      *std::move(files), executor_);
}

void LunLife::Step(Writing& writing) {
  Take& take = *writing.take;
  EXPECT_TRUE(writing.writer->status().ok()) << writing.writer->status();
  if (take.pushed == writing.blocks) {
    (void)writing.writer->Finish(absl::OkStatus());
    return;
  }
  if (random_() % 4 != 0) return;
  auto block = writing.ring->Take();
  if (!block.has_value()) return;
  block->header() = {.sequence = take.pushed,
                     .payload_bytes = static_cast<uint32_t>(take.manifest.block_bytes)};
  take.Fill(take.pushed, block->payload());
  block->header().crc32c = dataplane::Crc32c(block->payload());
  const uint64_t sequence = take.pushed++;
  const auto flow = writing.writer->Push(&*block);
  EXPECT_TRUE(flow.ok() && *flow == dataplane::Flow::kMoved) << "block " << sequence;
}

void LunLife::Delete(Take& take) {
  take.state = Take::State::kGoing;
  const absl::Status status = store_.DeleteRecording(take.path);
  ASSERT_TRUE(status.ok()) << status;
  take.state = Take::State::kGone;
}

void LunLife::DeleteAny() {
  std::vector<Take*> closed;
  for (auto& [number, take] : *ledger_) {
    if (take.state == Take::State::kClosed) closed.push_back(&take);
  }
  if (!closed.empty()) Delete(*closed[random_() % closed.size()]);
}

}  // namespace tapedeck::sim
