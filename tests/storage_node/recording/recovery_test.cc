// A node that died while recording seals what it holds when it starts again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "storage_node/format/index.h"
#include "storage_node/format/manifest.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {
namespace {

namespace fs = std::filesystem;

class Recovery : public testing::TestWithParam<int> {
 protected:
  // Pushes blocks and pumps until `blocks` of them are durable.
  void RecordDurably(Recorder& recorder, uint64_t blocks) {
    for (uint64_t i = 0; i < blocks; ++i) ASSERT_TRUE(recorder.Push(i).ok());
    ASSERT_TRUE(node_.executor().RunUntil(
        [&] { return recorder.admission.sink->watermarks().durable == blocks; }));
  }

  // So that a watermark page says at least ten blocks less, each of which is durable.
  void RecordBelowAWatermark(Recorder& recorder, uint64_t blocks) {
    for (uint64_t end = 10; end <= blocks; end += 10) {
      for (uint64_t i = end - 10; i < end; ++i) ASSERT_TRUE(recorder.Push(i).ok());
      ASSERT_TRUE(node_.executor().RunUntil(
          [&] { return recorder.admission.sink->watermarks().durable == end; }));
      // Lets the next watermark page be due.
      bool later = false;
      node_.executor().PostAfter(60 * dataplane::kMillisecondNs, [&] { later = true; });
      ASSERT_TRUE(node_.executor().RunUntil([&] { return later; }));
    }
  }

  // What kill -9 leaves: the files as they are, the node gone without a word.
  void KillAndRestart(std::optional<Recorder>* recorder) {
    *recorder = std::nullopt;
    node_.Stop();
    node_.Start();
  }

  NodeFixture node_{"posix", GetParam()};
};

TEST_P(Recovery, DurableBlocksSurviveAndTheRecordingSaysWhatItHolds) {
  std::optional<Recorder> recorder = *node_.Record();
  const std::string name = recorder->admission.accept.recording;
  RecordDurably(*recorder, 100);
  for (uint64_t i = 100; i < 120; ++i) ASSERT_TRUE(recorder->Push(i).ok());
  KillAndRestart(&recorder);

  const services::Recording recording = node_.Get(name);
  EXPECT_EQ(recording.state, services::RecordingState::kSalvaged);
  EXPECT_GE(recording.blocks, 100u);
  EXPECT_LE(recording.blocks, 120u);
  EXPECT_GE(recording.durable_watermark, 100u);
  EXPECT_THAT(recording.cause, testing::HasSubstr("stopped while recording"));
  EXPECT_GT(recording.close_time_ns, 0);
  for (const auto& damaged : node_.Verify(name))
    EXPECT_EQ(damaged.kind, services::DamageKind::kMissing);
  EXPECT_EQ(node_.PlayAll(name).size(), recording.blocks);
  EXPECT_EQ(node_.node().luns().GetLun("luns/l")->used_bytes,
            Takes("posix", recording.blocks, GetParam()));
}

TEST_P(Recovery, RepeatingItChangesNothing) {
  std::optional<Recorder> recorder = *node_.Record();
  const std::string name = recorder->admission.accept.recording;
  RecordDurably(*recorder, 20);
  KillAndRestart(&recorder);
  const services::Recording first = node_.Get(name);
  // As if it had died again just before the last step.
  node_.Stop();
  for (int m = 0; m < GetParam(); ++m) {
    const std::string path = node_.Directory(name, m) + "/manifest.json";
    std::ifstream in(path);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    auto manifest = *format::DecodeManifest(text);
    manifest.state = services::RecordingState::kRecording;
    manifest.blocks = manifest.bytes = manifest.durable_watermark = 0;
    std::ofstream(path) << format::EncodeManifest(manifest);
  }
  for (const char* suffix : {"", "-wal", "-shm"}) {
    fs::remove(node_.state_dir() + "/catalog.sqlite" + suffix);
  }
  node_.Start();
  const services::Recording second = node_.Get(name);
  EXPECT_EQ(second.blocks, first.blocks);
  EXPECT_EQ(second.bytes, first.bytes);
  EXPECT_EQ(second.state, first.state);
  EXPECT_EQ(second.durable_watermark, first.durable_watermark);
}

TEST_P(Recovery, EveryStartHasItsOwnVerifier) {
  std::optional<Recorder> recorder = *node_.Record();
  const std::string before = recorder->admission.verifier();
  EXPECT_EQ(before.size(), 16u);
  EXPECT_EQ(node_.Record()->admission.verifier(), before) << "one for all sessions";
  KillAndRestart(&recorder);
  EXPECT_NE(node_.Record()->admission.verifier(), before);
}

TEST_P(Recovery, TornTailIsCutAndHolesAreListed) {
  std::optional<Recorder> recorder = *node_.Record();
  const std::string name = recorder->admission.accept.recording;
  // 30 and 31 never come; 40 is torn by the crash.
  for (uint64_t i = 0; i <= 40; ++i) {
    if (i == 30 || i == 31) continue;
    ASSERT_TRUE(recorder->Push(i).ok());
  }
  ASSERT_TRUE(node_.executor().RunUntil(
      [&] { return recorder->admission.sink->watermarks().durable == 30; }));
  ASSERT_TRUE(node_.executor().RunUntil([&] { return node_.Get(name).blocks == 41; }));
  recorder = std::nullopt;
  node_.Stop();
  const format::Place torn = format::PlaceOf(40, kBlockBytes, GetParam());
  std::fstream data(node_.Directory(name, static_cast<int>(torn.member)) + "/data",
                    std::ios::binary | std::ios::in | std::ios::out);
  data.seekp(static_cast<std::streamoff>(torn.offset + 512));
  data.write("torn", 4);
  data.close();
  node_.Start();

  const services::Recording recording = node_.Get(name);
  EXPECT_EQ(recording.blocks, 40u);
  EXPECT_EQ(recording.missing_blocks, 2u);
  EXPECT_EQ(recording.durable_watermark, 30u);
  EXPECT_EQ(recording.bytes, 38 * kBlockBytes);
  std::vector<uint64_t> missing;
  for (const auto& header : node_.PlayAll(name)) {
    if (header.flags & dataplane::kBlockMissing) missing.push_back(header.sequence);
  }
  EXPECT_THAT(missing, testing::ElementsAre(30, 31));
}

// Beyond the watermark a bad block is what a crash leaves. Below it, it is corruption: recovery
// does not read those payloads, and playing finds it.
TEST_P(Recovery, RotBelowTheWatermarkIsKeptAndFoundWhenRead) {
  std::optional<Recorder> recorder = *node_.Record();
  const std::string name = recorder->admission.accept.recording;
  RecordBelowAWatermark(*recorder, 40);
  recorder = std::nullopt;
  node_.Stop();
  FlipBit(node_.Directory(name) + "/data", 100);
  node_.Start();
  EXPECT_EQ(node_.Get(name).blocks, 40u);
  const auto damaged = node_.Verify(name);
  ASSERT_EQ(damaged.size(), 1u);
  EXPECT_EQ(damaged[0].sequence, 0u);
  EXPECT_EQ(damaged[0].kind, services::DamageKind::kRot);
}

// Nobody can say what they held, but that they are no blocks that never came.
TEST_P(Recovery, DurableBlocksWithoutAnEntryAreToldOf) {
  for (const bool damages : {false, true}) {
    std::optional<Recorder> recorder = *node_.Record();
    const std::string name = recorder->admission.accept.recording;
    RecordBelowAWatermark(*recorder, 40);
    recorder = std::nullopt;
    node_.Stop();
    const auto entries = format::EntryFormat::Of(kBlockBytes, 0);
    for (int copy = 0; copy < GetParam() && damages; ++copy) {
      Overwrite(node_.Directory(name, copy) + "/index", entries.Offset(3),
                std::string(2 * entries.entry_bytes, '?'));
    }
    node_.Start();
    const services::Recording recording = node_.Get(name);
    EXPECT_EQ(recording.missing_blocks, damages ? 2u : 0u);
    const auto told = testing::HasSubstr("durable blocks whose index entries are lost: 2");
    EXPECT_EQ(testing::Value(recording.cause, told), damages) << recording.cause;
  }
}

TEST_P(Recovery, SessionThatVanishedIsSealedWithoutARestart) {
  std::optional<Recorder> recorder = *node_.Record();
  const std::string name = recorder->admission.accept.recording;
  RecordDurably(*recorder, 10);
  EXPECT_EQ(node_.Get(name).state, services::RecordingState::kRecording);
  EXPECT_EQ(Reason(node_.Play(name).status()), "RECORDING_BUSY");
  EXPECT_EQ(Reason(node_.node().recordings().DeleteRecording(name)), "RECORDING_BUSY");
  recorder = std::nullopt;
  EXPECT_EQ(node_.Get(name).state, services::RecordingState::kSalvaged);
  EXPECT_EQ(node_.PlayAll(name).size(), 10u);
}

TEST_P(Recovery, PeerThatWentAwayIsTheCause) {
  auto recorder = *node_.Record();
  for (const uint64_t i : {0, 1, 2, 5}) ASSERT_TRUE(recorder.Push(i).ok());
  EXPECT_TRUE(recorder.Finish(absl::UnavailableError("worker w1 went away")).ok());
  const services::Recording recording = node_.Get(recorder.admission.accept.recording);
  EXPECT_EQ(recording.state, services::RecordingState::kSalvaged);
  EXPECT_EQ(recording.cause, "UNAVAILABLE: worker w1 went away");
  EXPECT_EQ(recording.blocks, 6u);
  EXPECT_EQ(recording.missing_blocks, 2u);
  EXPECT_EQ(recording.durable_watermark, 3u);
}

TEST_P(Recovery, RecordingWithoutManifestAndBlocksLeavesNothing) {
  const std::string name = node_.RecordAndSeal(1);
  node_.Stop();
  for (int m = 0; m < GetParam(); ++m) {
    fs::remove(node_.Directory(name, m) + "/manifest.json");
    fs::resize_file(node_.Directory(name, m) + "/index", m < 2 ? 4096 : 0);
  }
  for (const char* suffix : {"", "-wal", "-shm"}) {
    fs::remove(node_.state_dir() + "/catalog.sqlite" + suffix);
  }
  node_.Start();
  EXPECT_TRUE(node_.node().recordings().ListRecordings("luns/-/channels/-")->empty());
  EXPECT_FALSE(fs::exists(node_.Directory(name)));
}

INSTANTIATE_TEST_SUITE_P(Members, Recovery, testing::Values(1, 2));

TEST(Locks, SecondNodeIsRefusedWithTheHoldersPidAndHost) {
  NodeFixture node;
  const auto second = node::StorageNode::Create({.state_dir = node.state_dir()});
  EXPECT_TRUE(absl::IsFailedPrecondition(second.status()));
  EXPECT_EQ(Reason(second.status()), "MEMBER_UNUSABLE");
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  EXPECT_THAT(std::string(second.status().message()),
              testing::AllOf(testing::HasSubstr("pid " + std::to_string(getpid())),
                             testing::HasSubstr(host)));
}

TEST(Locks, MemberOfAnotherNodeIsNotTaken) {
  NodeFixture node;
  // The same LUN under a second state directory, as after a careless copy.
  const std::string other = node.dir().Make("other");
  fs::copy(node.state_dir() + "/luns", other + "/luns");
  const auto second = node::StorageNode::Create({.state_dir = other});
  ASSERT_TRUE(second.ok()) << second.status();
  const auto lun = (*second)->luns().GetLun("luns/l");
  ASSERT_TRUE(lun.ok()) << lun.status();
  EXPECT_EQ(lun->state, services::LunState::kOffline);
  EXPECT_THAT(lun->cause, testing::HasSubstr("pid " + std::to_string(getpid())));
}

TEST(Locks, HolderThatJustEndsIsWaitedFor) {
  TempDir dir;
  int pipe_fds[2];
  ASSERT_EQ(pipe(pipe_fds), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = disk::FileLock::Take(dir.path() + "/lock", dir.path());
    char byte = lock.ok() ? 'y' : 'n';
    [[maybe_unused]] const ssize_t n = write(pipe_fds[1], &byte, 1);
    usleep(100'000);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(pipe_fds[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  EXPECT_TRUE(disk::FileLock::Take(dir.path() + "/lock", dir.path()).ok());
  waitpid(child, nullptr, 0);
  close(pipe_fds[0]);
  close(pipe_fds[1]);
}

TEST(MemoryLun, ComesBackEmptyWithItsChannels) {
  NodeFixture node("memory");
  node.RecordAndSeal(5);
  node.Stop();
  node.Start();
  EXPECT_TRUE(node.node().recordings().ListRecordings("luns/-/channels/-")->empty());
  EXPECT_EQ(node.node().luns().GetLun("luns/l")->used_bytes, 0u);
  EXPECT_TRUE(node.node().channels().GetChannel("luns/l/channels/c").ok());
  EXPECT_EQ(node.PlayAll(node.RecordAndSeal(5)).size(), 5u);
}

}  // namespace
}  // namespace tapedeck::storage_node
