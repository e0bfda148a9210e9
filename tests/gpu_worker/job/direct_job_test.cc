// Jobs of a worker whose device is out of the CPU's reach, against a real storage node: the ladder,
// the ring and its registration, the session and both pipelines, over every transport that reaches
// such memory. With RDMA the machine of tests/lab stands for the port.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dataplane/reason.h"
#include "services/base/errors.h"
#include "tests/gpu_worker/device/split_device.h"
#include "tests/gpu_worker/job/job_fixture.h"
#include "tests/services/noted.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::TransferOp;
using testing::Contains;
using testing::HasSubstr;

rlim_t Memlock() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  return limit.rlim_cur;
}

constexpr uint64_t kBlockBytes = 64 << 10;

class DirectJobTest : public JobFixture, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    kind_ = KindNamed(GetParam());
    if (const absl::Status usable = kind_.usable(); !usable.ok()) GTEST_SKIP() << usable.message();
    StartNode(kind_);
    AddChannel(kChannel, kBlockBytes, 1e9);
  }

  // Of rails that lock what they register.
  bool LittleMemlock() const { return kind_.kind == "verbs" && Memlock() < 64 << 20; }

  void Probe(int dma_buf_fd = -1) { UseDevice(ChooseSplitDevice(dma_buf_fd)); }

  absl::StatusOr<services::Job> Record(TransferOp op, uint64_t blocks, uint32_t slots = 0) {
    return Finish(job::Job::StartRecord("jobs/1",
                                        {.transfer = {.target = kChannel, .slots = slots, .op = op},
                                         .source = {"synth"},
                                         .blocks = blocks},
                                        Environment(), Nodes()));
  }

  absl::StatusOr<services::Job> Play(const std::string& recording, TransferOp op) {
    return Finish(job::Job::StartPlayback(
        "jobs/2", {.transfer = {.target = recording, .op = op}, .sink = {"verify"}}, Environment(),
        Nodes()));
  }

  // Records and plays `blocks` blocks; the worker's ring lies on its device both times.
  void RoundTrip(TransferOp op, uint64_t blocks, const std::string& note) {
    const auto recorded = Record(op, blocks);
    ASSERT_TRUE(recorded.ok()) << recorded.status();
    EXPECT_TRUE(recorded->error.ok()) << recorded->error;
    EXPECT_EQ(recorded->blocks, blocks);
    EXPECT_EQ(recorded->counters.crc_errors, 0u);
    EXPECT_THAT(recorded->notes, Contains(services::Noted(note)));
    const auto played = Play(recorded->recording, op);
    ASSERT_TRUE(played.ok()) << played.status();
    EXPECT_TRUE(played->error.ok()) << played->error;
    EXPECT_EQ(played->blocks, blocks);
    EXPECT_EQ(played->counters.crc_errors, 0u);
    EXPECT_THAT(played->notes, Contains(services::Noted(note)));
  }

  SplitDirect& direct() { return *static_cast<SplitDevice&>(*device_.device).direct(); }

  dataplane::TransportKind kind_;
};

TEST_P(DirectJobTest, AChannelThatChangesMeanwhileIsNotRecordedInto) {
  if (LittleMemlock()) GTEST_SKIP() << "little memory can be locked here";
  Probe();
  meanwhile_ = [this] {
    const auto update =
        services::ChannelUpdate{.name = kChannel}.Set(&services::Channel::sample_rate, 2e9);
    ASSERT_TRUE(node_->channels().UpdateChannel(update, "").ok());
  };
  const auto refused = Record(TransferOp::kRead, 4);
  ASSERT_TRUE(refused.ok()) << refused.status();
  ASSERT_TRUE(services::ReasonOf(refused->error).has_value()) << refused->error;
  EXPECT_EQ(services::ReasonOf(refused->error)->reason, "CHANNEL_IN_USE") << refused->error;
  const auto again = Record(TransferOp::kRead, 4);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->error.ok()) << again->error;
}

TEST_P(DirectJobTest, RecordsAndPlaysByEveryOp) {
  if (LittleMemlock()) GTEST_SKIP() << "little memory can be locked here";
  Probe();
  for (const TransferOp op : {TransferOp::kRead, TransferOp::kWrite, TransferOp::kSend}) {
    const int flushes = direct().flushes;
    RoundTrip(op, 100, "MEMORY_PATH|memory=GPU|path=nvidia-peermem");
    EXPECT_GE(direct().flushes - flushes, 100) << "before the device reads a played block";
  }
}

// inproc reaches every memory by its address; soft-RoCE refuses every dma-buf.
TEST_P(DirectJobTest, TheLadderGoesDownToWhatTheRailCan) {
  if (LittleMemlock()) GTEST_SKIP() << "little memory can be locked here";
  const int fd = memfd_create("exported", 0);
  ASSERT_GE(fd, 0);
  Probe(fd);
  if (kind_.kind == "inproc") {
    RoundTrip(TransferOp::kRead, 20, "MEMORY_PATH|memory=GPU|path=dma-buf");
  } else {
    RoundTrip(TransferOp::kRead, 20, "MEMORY_PATH|memory=GPU|path=nvidia-peermem");
    for (const std::string& line : ladder_->Describe()) {
      EXPECT_THAT(line, HasSubstr("dma-buf: rail r0"));
      EXPECT_THAT(line, HasSubstr("ibv_reg_dmabuf_mr: Operation not supported"));
    }
  }
  close(fd);
}

TEST_P(DirectJobTest, PlaybackThatTheDeviceMightMissGoesThroughHostMemory) {
  if (LittleMemlock()) GTEST_SKIP() << "little memory can be locked here";
  Probe();
  direct().visible = absl::UnimplementedError("neither ordered nor flushed");
  ladder_ = std::make_unique<pipeline::MemoryLadder>(*device_.device,
                                                     std::vector<Transport*>{worker_rail_.get()});
  const auto recorded = Record(TransferOp::kRead, 20);
  EXPECT_THAT(recorded->notes, Contains(services::Noted("MEMORY_PATH|path=nvidia-peermem")));
  const auto played = Play(recorded->recording, TransferOp::kWrite);
  ASSERT_TRUE(played.ok()) << played.status();
  EXPECT_TRUE(played->error.ok()) << played->error;
  EXPECT_THAT(played->notes, Contains(services::Noted("MEMORY_PATH|path=host bounce")));
}

// With 4 MiB of locked memory, in the lab.
TEST_P(DirectJobTest, ARingThatCannotBeRegisteredWholeIsSmaller) {
  if (!LittleMemlock() || Memlock() != 4 << 20)
    GTEST_SKIP() << "for a limit of locked memory of 4 MiB";
  Probe();
  const auto recorded = Record(TransferOp::kRead, 200);
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  EXPECT_TRUE(recorded->error.ok()) << recorded->error;
  EXPECT_EQ(recorded->blocks, 200u);
  EXPECT_THAT(recorded->notes, Contains(services::Noted("RING_SMALL|wanted_slots=128")));
  EXPECT_THAT(recorded->notes, Contains(testing::Field(&services::Note::text,
                                                       HasSubstr("set LimitMEMLOCK=infinity"))));
}

// With 64 KiB of locked memory, in the lab.
TEST_P(DirectJobTest, TooLittleLockedMemoryIsSaidBeforeAnythingStarts) {
  if (!LittleMemlock() || Memlock() != 64 << 10)
    GTEST_SKIP() << "for a limit of locked memory of 64 KiB";
  Probe();
  const absl::Status status = Record(TransferOp::kRead, 20).status();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(dataplane::ReasonOf(status)->reason, "MEMLOCK_TOO_LOW");
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("no ring: even the smallest, 8 slots on 1 rail(s), does not fit: rail r0"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("ibv_reg_mr: 524288 bytes must be locked and the limit of locked memory "
                        "is 65536 bytes; set LimitMEMLOCK=infinity"));
  EXPECT_TRUE(node_->recordings().ListRecordings(kChannel)->empty());
}

INSTANTIATE_TEST_SUITE_P(Inproc, DirectJobTest, testing::Values("inproc"),
                         [](const auto&) { return "Inproc"; });
INSTANTIATE_TEST_SUITE_P(Verbs, DirectJobTest, testing::Values("verbs"),
                         [](const auto&) { return "Verbs"; });

}  // namespace
}  // namespace tapedeck::gpu_worker
