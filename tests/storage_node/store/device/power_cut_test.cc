// The power goes while recordings on a device begin, grow, end, and are deleted so that others lie
// where they lay: what was acknowledged is there, and what is played is what was recorded.
// TAPEDECK_SIM_SEEDS: how often.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "tests/sim/seeds.h"
#include "tests/storage_node/node_fixture.h"
#include "tests/storage_node/store/device/disk_tape.h"

namespace tapedeck::storage_node {
namespace {

constexpr uint64_t kImageBytes = 64 << 20;  // 12 units
constexpr char kGone[] = "gone ";
constexpr char kGoing[] = "going ";

// Writes what differs only: a state differs little from the one before.
void ReplaceContents(const std::string& path, const std::string& contents) {
  constexpr size_t kPiece = 64 << 10;
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  std::string found(contents.size(), '\0');
  file.read(found.data(), static_cast<std::streamsize>(found.size()));
  for (size_t at = 0; at < contents.size(); at += kPiece) {
    if (contents.compare(at, kPiece, found, at, kPiece) == 0) continue;
    file.seekp(static_cast<std::streamoff>(at));
    file.write(&contents[at], kPiece);
  }
}

class BlockPowerCut : public testing::Test {
 protected:
  // A recording under way, or one that has ended.
  struct Take {
    Recorder recorder;
    std::string name;
    uint64_t next = 0;
    uint64_t told = 0;
  };

  Take Begin(uint64_t seed) {
    Take take{.recorder = *node_.Record({}, seed)};
    take.name = take.recorder.admission.accept.recording;
    seeds_[take.name] = seed;
    return take;
  }

  // What the sender hears goes on the tape.
  void Listen(Take* take) {
    const uint64_t durable = take->recorder.admission.sink->watermarks().durable;
    if (durable > take->told) tape_.Mark(take->name, durable);
    take->told = durable;
  }

  void Push(Take* take, uint64_t blocks) {
    for (const uint64_t end = take->next + blocks; take->next < end; ++take->next) {
      ASSERT_TRUE(take->recorder.Push(take->next).ok());
      Listen(take);
    }
  }

  void End(Take* take) {
    ASSERT_TRUE(take->recorder.Finish().ok());
    take->recorder.admission = {};
    tape_.Mark(take->name, take->next);
  }

  void Delete(const Take& take) {
    tape_.Mark(kGoing + take.name, 0);
    ASSERT_TRUE(node_.node().recordings().DeleteRecording(take.name).ok());
    tape_.Mark(kGone + take.name, 0);
  }

  void Work();
  void Check(size_t end);

  NodeFixture node_{"device", 1, 0, kImageBytes};
  const std::string image_ = node_.dir().path() + "/m0";
  DiskTape tape_{image_};
  std::map<std::string, uint64_t> seeds_;
  uint64_t acknowledged_ = 0;
  uint64_t kept_ = 0;
};

// 44 MiB hold 704 blocks: from the third recording on, units are used again.
void BlockPowerCut::Work() {
  std::optional<Take> last;
  for (uint64_t round = 0; round < 5; ++round) {
    Take first = Begin(2 * round + 1);
    Take second = Begin(2 * round + 2);
    for (int i = 0; i < 8; ++i) {
      Push(&first, 12);
      Push(&second, 7);
      if (i == 3 && last.has_value()) Delete(*last);
    }
    End(&first);
    Push(&second, 40);
    Delete(first);
    End(&second);
    last = std::move(second);
  }
}

void BlockPowerCut::Check(size_t end) {
  std::map<std::string, uint64_t> told;
  std::map<std::string, bool> going, gone;
  for (size_t i = 0; i < end; ++i) {
    const TapeEntry& entry = tape_.entries()[i];
    if (entry.kind != TapeEntry::kMark) continue;
    if (entry.bytes.starts_with(kGone)) {
      gone[entry.bytes.substr(sizeof(kGone) - 1)] = true;
    } else if (entry.bytes.starts_with(kGoing)) {
      going[entry.bytes.substr(sizeof(kGoing) - 1)] = true;
    } else {
      told[entry.bytes] = entry.value;
    }
  }
  std::map<std::string, services::Recording> there;
  const auto listed = node_.node().recordings().ListRecordings("luns/l/channels/c");
  ASSERT_TRUE(listed.ok()) << listed.status();
  for (const services::Recording& recording : *listed) there[recording.name] = recording;
  for (const auto& [name, recording] : there) {
    EXPECT_FALSE(gone[name]) << name;
    EXPECT_GE(recording.blocks, told[name]) << name;
    for (const auto& damaged : node_.Verify(name)) {
      EXPECT_EQ(damaged.kind, services::DamageKind::kMissing) << name << "/" << damaged.sequence;
      EXPECT_GE(damaged.sequence, told[name]) << name;
    }
    kept_ += node_.PlayAll(name, seeds_[name]).size();
  }
  for (const auto& [name, blocks] : told) {
    if (going[name]) continue;
    EXPECT_TRUE(there.contains(name)) << name;
    acknowledged_ += blocks;
  }
}

TEST_F(BlockPowerCut, NothingAcknowledgedIsLostAndNothingOldIsPlayed) {
  Work();
  tape_.Stop();
  const std::vector<uint64_t> states = sim::Seeds(25);
  for (const uint64_t state : states) {
    if (HasFailure()) break;
    std::mt19937_64 random(state);
    const size_t end = tape_.entries().size() * state / (states.back() + 1);
    SCOPED_TRACE("state " + std::to_string(state) + ", cut after " + std::to_string(end) + " of " +
                 std::to_string(tape_.entries().size()));
    node_.Stop();
    std::filesystem::remove(node_.state_dir() + "/catalog.sqlite");
    std::filesystem::remove(node_.state_dir() + "/catalog.sqlite-wal");
    const std::string disk = tape_.AfterPowerCut(end, random);
    ReplaceContents(image_, disk);
    node_.Start();
    Check(end);
  }
  std::printf("%zu power cuts in %zu writes and flushes: %lu blocks acknowledged, %lu there\n",
              states.size(), tape_.entries().size(), acknowledged_, kept_);
}

}  // namespace
}  // namespace tapedeck::storage_node
