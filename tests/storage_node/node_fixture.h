// A storage node in a temporary directory, with sessions pumped by hand.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataplane/crc/crc32c.h"
#include "services/base/errors.h"
#include "storage_node/node/node.h"
#include "tests/bytes.h"
#include "tests/storage_node/manual_executor.h"
#include "tests/storage_node/temp_dir.h"

namespace tapedeck::storage_node {

inline constexpr uint64_t kBlockBytes = 64 << 10;

// Payload of block `sequence`, different for each seed.
inline void FillPayload(uint64_t sequence, std::span<std::byte> payload, uint64_t seed = 1) {
  FillRandom(seed * 1'000'003 + sequence, payload);
  // Slots come back with what they had.
  for (std::byte& rest : payload.last(payload.size() % 8)) rest = {};
}
inline std::vector<std::byte> Payload(uint64_t sequence, size_t bytes, uint64_t seed = 1) {
  std::vector<std::byte> payload(bytes);
  FillPayload(sequence, payload, seed);
  return payload;
}

inline std::string Reason(const absl::Status& status) {
  const auto reason = services::ReasonOf(status);
  return reason.has_value() ? reason->reason : "none";
}

// What a closed recording of so many blocks, with few words, takes of a LUN; of a device's, with
// one member.
inline uint64_t Takes(const std::string& kind, uint64_t blocks, uint64_t members = 1) {
  constexpr uint64_t kPage = 4096, kUnit = 4 << 20;
  const auto up = [](uint64_t bytes, uint64_t step) { return (bytes + step - 1) / step * step; };
  const uint64_t index = 3 * kPage + blocks * format::EntryFormat::Of(kBlockBytes, 0).entry_bytes;
  if (kind == "memory") return blocks * kBlockBytes;
  if (kind == "device") {
    return blocks == 0 ? 0 : up(blocks * kBlockBytes, kUnit) + up(index, kUnit);
  }
  const uint64_t copies = blocks == 0 ? 0 : std::min<uint64_t>(members, 2);
  return blocks * kBlockBytes + copies * up(index, kPage) + members * kPage;
}

// One record session.
struct Recorder {
  services::session::Admission admission;
  ManualExecutor* executor = nullptr;
  uint64_t seed = 1;

  // Takes a slot, pumping until there is one, and pushes the block.
  absl::Status Push(uint64_t sequence, size_t bytes = kBlockBytes, uint32_t flags = 0) {
    std::optional<dataplane::Block> block;
    const bool lent = executor->RunUntil([&] {
      block = admission.ring->Take();
      return block.has_value();
    });
    if (!lent) return absl::DeadlineExceededError("no slot came back");
    const auto payload = block->memory().first(bytes);
    FillPayload(sequence, payload, seed);
    block->header() = {.sequence = sequence,
                       .sample_index = sequence * 1000,
                       .capture_ns = static_cast<int64_t>(sequence) * 5,
                       .payload_bytes = static_cast<uint32_t>(bytes),
                       .crc32c = dataplane::Crc32c(payload),
                       .flags = flags};
    const auto flow = admission.sink->Push(&*block);
    if (!flow.ok()) return flow.status();
    return *flow == dataplane::Flow::kMoved ? absl::OkStatus() : absl::InternalError("not moved");
  }

  absl::Status Finish(const absl::Status& cause = absl::OkStatus()) {
    absl::StatusOr<dataplane::Flow> flow = dataplane::Flow::kNotNow;
    const bool done = executor->RunUntil([&] {
      flow = admission.sink->Finish(cause);
      return !flow.ok() || *flow == dataplane::Flow::kEnd;
    });
    return done ? flow.status() : absl::DeadlineExceededError("Finish never ended");
  }
};

class NodeFixture {
 public:
  explicit NodeFixture(const std::string& store = "posix", int members = 1,
                       uint64_t capacity_bytes = 64 << 20, uint64_t image_bytes = 1 << 30,
                       uint32_t copies = 0) {
    Start();
    services::Lun lun{
        .name = "luns/l", .store = store, .capacity_bytes = capacity_bytes, .copies = copies};
    for (int m = 0; store != "memory" && m < members; ++m) {
      const std::string name = "m" + std::to_string(m);
      lun.members.push_back(store == "device" ? dir_.MakeImage(name, image_bytes)
                                              : dir_.Make(name));
    }
    const auto made = node_->luns().CreateLun(lun, "");
    EXPECT_TRUE(made.ok()) << made.status();
    MakeChannel("c", dataplane::CommitLevel::kDurable);
  }

  // A session's ring has few slots: the kernel zeroes all of them, for each session of each test.
  void Start() { Restart({.ring_slots = 32}); }
  // With these settings, but for the folder.
  void Restart(node::StorageSettings settings) {
    Stop();
    settings.state_dir = state_dir();
    auto node = node::StorageNode::Create(std::move(settings));
    ASSERT_TRUE(node.ok()) << node.status();
    node_ = *std::move(node);
  }
  void Stop() { node_ = nullptr; }

  void MakeChannel(const std::string& id, dataplane::CommitLevel commit) {
    const auto channel = node_->channels().CreateChannel({.name = "luns/l/channels/" + id,
                                                          .block_bytes = kBlockBytes,
                                                          .datatype = "cf32_le",
                                                          .sample_rate = 1e9,
                                                          .commit = commit},
                                                         "");
    EXPECT_TRUE(channel.ok()) << channel.status();
  }

  absl::StatusOr<Recorder> Record(services::session::Open open = {}, uint64_t seed = 1) {
    if (open.channel.empty()) open.channel = "luns/l/channels/c";
    open.direction = services::session::Direction::kRecord;
    auto admission = Admit(open);
    if (!admission.ok()) return admission.status();
    return Recorder{.admission = *std::move(admission), .executor = &executor_, .seed = seed};
  }

  // Records `blocks` whole blocks in order and seals them; returns the recording's name.
  std::string RecordAndSeal(uint64_t blocks, uint64_t seed = 1) {
    auto recorder = Record({}, seed);
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    for (uint64_t i = 0; i < blocks; ++i) EXPECT_TRUE(recorder->Push(i).ok()) << i;
    EXPECT_TRUE(recorder->Finish().ok());
    return recorder->admission.accept.recording;
  }

  absl::StatusOr<services::session::Admission> Play(const std::string& recording,
                                                    services::session::Open open = {}) {
    open.direction = services::session::Direction::kPlayback;
    open.recording = recording;
    return Admit(open);
  }

  // As a session is admitted: what the disk has to do for it is waited for.
  absl::StatusOr<services::session::Admission> Admit(const services::session::Open& open) {
    return Admit(open, executor_);
  }
  absl::StatusOr<services::session::Admission> Admit(const services::session::Open& open,
                                                     ManualExecutor& executor) {
    std::optional<absl::StatusOr<services::session::Admission>> admission;
    node_->sessions().Admit(open, executor, std::make_shared<services::session::AdmissionWatch>(),
                            [&](auto admitted) { admission.emplace(std::move(admitted)); });
    EXPECT_TRUE(executor.RunUntil([&] { return admission.has_value(); }));
    return *std::move(admission);
  }

  // The next block, or none at the end.
  absl::StatusOr<std::optional<dataplane::Block>> Pull(dataplane::Source& source) {
    dataplane::Block block;
    absl::StatusOr<dataplane::Flow> flow = dataplane::Flow::kNotNow;
    const bool answered = executor_.RunUntil([&] {
      flow = source.Pull(&block);
      return !flow.ok() || *flow != dataplane::Flow::kNotNow;
    });
    if (!answered) return absl::DeadlineExceededError("no block came");
    if (!flow.ok()) return flow.status();
    if (*flow == dataplane::Flow::kEnd) return std::nullopt;
    return std::optional<dataplane::Block>(std::move(block));
  }

  // Headers of a whole playback; payloads of present blocks are compared with Payload().
  std::vector<dataplane::BlockHeader> PlayAll(const std::string& recording, uint64_t seed = 1,
                                              services::session::Open open = {}) {
    std::vector<dataplane::BlockHeader> headers;
    auto admission = Play(recording, open);
    EXPECT_TRUE(admission.ok()) << admission.status();
    if (!admission.ok()) return headers;
    while (true) {
      auto block = Pull(*admission->source);
      EXPECT_TRUE(block.ok()) << block.status();
      if (!block.ok() || !block->has_value()) return headers;
      const dataplane::BlockHeader& header = (*block)->header();
      headers.push_back(header);
      if (header.flags & dataplane::kBlockMissing) continue;
      const auto expected = Payload(header.sequence, header.payload_bytes, seed);
      EXPECT_TRUE(SameBytes((*block)->payload(), expected)) << header.sequence;
      EXPECT_EQ(header.crc32c, dataplane::Crc32c(expected));
    }
  }

  std::vector<services::DamagedBlock> Verify(const std::string& recording) {
    std::vector<services::DamagedBlock> damaged;
    uint64_t checked = 0, blocks = 0;
    const absl::Status status =
        node_->recordings().VerifyRecording(recording, [&](const services::VerifyProgress& p) {
          damaged.insert(damaged.end(), p.damaged.begin(), p.damaged.end());
          checked = p.checked_blocks;
          blocks = p.blocks;
          return true;
        });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(checked, blocks);
    return damaged;
  }

  services::Recording Get(const std::string& recording) {
    const auto found = node_->recordings().GetRecording(recording);
    EXPECT_TRUE(found.ok()) << found.status();
    return found.value_or(services::Recording());
  }

  // The directory of a posix recording on a member.
  std::string Directory(const std::string& recording, int member = 0) const {
    const std::string id = recording.substr(recording.rfind('/') + 1);
    return dir_.path() + "/m" + std::to_string(member) + "/c/" + id;
  }

  services::Scrub EndScrub(const std::string& parent) {
    services::Scrub scrub;
    EXPECT_TRUE(executor_.RunUntil([&] {
      scrub = *node_->scrubs().GetScrub(parent);
      return scrub.state != services::ScrubState::kRunning;
    }));
    return scrub;
  }

  // Runs `act` on a thread of its own while the executor runs: for what waits for a writer.
  template <typename Act>
  auto Meanwhile(Act act) {
    auto result = std::async(std::launch::async, std::move(act));
    EXPECT_TRUE(executor_.RunUntil(
        [&] { return result.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    return result.get();
  }

  std::string state_dir() const { return dir_.path() + "/state"; }
  const TempDir& dir() const { return dir_; }
  ManualExecutor& executor() { return executor_; }
  node::StorageNode& node() { return *node_; }

 private:
  TempDir dir_;
  ManualExecutor executor_;
  std::unique_ptr<node::StorageNode> node_;
};

}  // namespace tapedeck::storage_node
