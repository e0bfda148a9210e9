// Features of a recording job that go together, two at a time, over two storage nodes and three
// workers. What is recorded plays and verifies.

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "dataplane/clock.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/inlet_client.h"
#include "tests/site/site.h"

namespace tapedeck::site {
namespace {

using services::model::JobState;
using testing::Contains;
using testing::Field;
using testing::Not;

class FeaturesSiteTest : public SiteTest {
 protected:
  static constexpr char kFirst[] = "luns/l0/channels/c0";
  static constexpr char kSecond[] = "luns/l0/channels/c1";
  static constexpr uint64_t kBlocks = 200;
  static constexpr uint64_t kBlockBytes = 64 << 10;

  FeaturesSiteTest() {
    for (Node* const node : {&a_, &b_}) {
      const auto lun =
          node->catalog().CreateLun({.name = "luns/l0",
                                     .store = "posix",
                                     .members = {dir_.Make(absl::StrCat("m", ++members_))},
                                     .capacity_bytes = uint64_t{1} << 30});
      EXPECT_TRUE(lun.ok()) << lun.status();
      for (const char* name : {kFirst, kSecond}) {
        const auto made = node->catalog().CreateChannel(
            {.name = name, .block_bytes = kBlockBytes, .datatype = "cf32_le", .sample_rate = 1e8});
        EXPECT_TRUE(made.ok()) << made.status();
      }
    }
  }

  std::string Both() const { return absl::StrCat(a_.address(), ",", b_.address()); }

  services::RecordSpec Parts(uint32_t copies) {
    services::RecordSpec spec = Recording(a_, kFirst, kBlocks);
    spec.transfer.storage = Both();
    spec.copies = copies;
    return spec;
  }

  static void AddSecond(services::RecordSpec& spec) { spec.outputs = {{.channel = kSecond}}; }

  static void AddGroup(services::RecordSpec& spec) {
    spec.transfer.group = {.id = "g", .name = "array", .number = 2, .members = 3};
    spec.at_ns = dataplane::SystemClock().WallNs() + dataplane::kSecondNs * 2;
  }

  // From both nodes.
  void ExpectPlays(const std::string& recording) {
    services::PlaybackSpec spec = Playing(a_, recording);
    spec.transfer.storage = Both();
    const services::Job played = worker_.Play(spec);
    ExpectWhole(played, kBlocks);
    EXPECT_THAT(played.notes, Not(Contains(Field(&services::Note::code, "CONTENT_NOT_COMPARED"))));
  }

  // Blocks that the nodes hold of it together.
  uint64_t Held(const std::string& recording) {
    return a_.RecordingNamed(recording).blocks + b_.RecordingNamed(recording).blocks;
  }

  void ExpectMember(const services::Recording& recording) {
    ASSERT_TRUE(recording.group.has_value());
    EXPECT_EQ(recording.group->id, "g");
    EXPECT_EQ(recording.group->number, 2u);
    EXPECT_EQ(recording.group->members, 3u);
    EXPECT_GT(recording.group->starts_at_ns, 0);
  }

  void ExpectDealtSecond(uint32_t copies) {
    services::RecordSpec spec = Parts(copies);
    AddSecond(spec);
    const services::Job job = worker_.Record(spec);
    ExpectWhole(job, kBlocks);
    ASSERT_EQ(job.outputs.size(), 1u);
    const services::JobOutput& output = job.outputs[0];
    EXPECT_TRUE(output.error.ok()) << output.error;
    EXPECT_EQ(output.blocks, kBlocks);
    EXPECT_EQ(output.lost_blocks, 0u);
    EXPECT_EQ(Held(job.recording), copies * kBlocks);
    EXPECT_EQ(Held(output.recording), copies * kBlocks);
    EXPECT_EQ(b_.RecordingNamed(output.recording).part->copies, copies);
    ExpectPlays(job.recording);
    ExpectPlays(output.recording);
  }

  void ExpectMemberInParts(uint32_t copies) {
    services::RecordSpec spec = Parts(copies);
    AddGroup(spec);
    const services::Job job = worker_.Record(spec);
    ExpectWhole(job, kBlocks);
    EXPECT_EQ(Held(job.recording), copies * kBlocks);
    for (Node* const node : {&a_, &b_}) {
      const services::Recording part = node->RecordingNamed(job.recording);
      ExpectMember(part);
      EXPECT_TRUE(part.part.has_value());
    }
    ExpectPlays(job.recording);
  }

  static absl::StatusOr<services::Job> Receive(Worker& worker) {
    services::client::InletClient inlets(services::client::MakeChannel(worker.settings.listen),
                                         absl::Seconds(30));
    return inlets.StartReceive({.transfer = {.target = "inlets/i0"},
                                .inlet = {.name = "inlets/i0",
                                          .datatype = "cf32_le",
                                          .block_bytes = kBlockBytes,
                                          .sample_rate = 1e8},
                                .sink = {"verify"},
                                .wait_ns = 10 * dataplane::kSecondNs});
  }

  // Into the inlets of `receivers`; returns how each of those has ended.
  std::vector<services::Job> Stream(services::RecordSpec spec,
                                    const std::vector<Worker*>& receivers) {
    std::vector<absl::StatusOr<services::Job>> started;
    std::string to;
    for (Worker* const receiver : receivers) {
      started.push_back(Receive(*receiver));
      absl::StrAppend(&to, to.empty() ? "" : ",", receiver->settings.listen);
    }
    spec.transfer.storage = to;
    spec.transfer.target = "inlets/i0";
    const uint64_t blocks = spec.blocks;
    ExpectWhole(worker_.Record(spec), blocks);
    std::vector<services::Job> ended;
    for (size_t i = 0; i < receivers.size(); ++i) ended.push_back(receivers[i]->Ended(started[i]));
    for (const services::Job& job : ended) {
      EXPECT_EQ(job.state, JobState::kSucceeded) << job.error;
      EXPECT_EQ(job.lost_blocks, 0u);
    }
    return ended;
  }

  int members_ = 0;
  Node& a_ = AddNode();
  Node& b_ = AddNode();
  Worker& worker_ = AddWorker();
};

TEST_F(FeaturesSiteTest, PartsWithSecondOutput) { ExpectDealtSecond(1); }

TEST_F(FeaturesSiteTest, CopiesWithSecondOutput) { ExpectDealtSecond(2); }

TEST_F(FeaturesSiteTest, PartsWithGroup) { ExpectMemberInParts(1); }

TEST_F(FeaturesSiteTest, CopiesWithGroup) { ExpectMemberInParts(2); }

TEST_F(FeaturesSiteTest, GroupWithSecondOutput) {
  services::RecordSpec spec = Recording(a_, kFirst, kBlocks);
  AddGroup(spec);
  AddSecond(spec);
  const services::Job job = worker_.Record(spec);
  ExpectWhole(job, kBlocks);
  ExpectMember(a_.RecordingNamed(job.recording));
  const services::Recording second = a_.RecordingNamed(job.outputs.at(0).recording);
  EXPECT_EQ(second.blocks, kBlocks);
  ASSERT_TRUE(second.group.has_value());
  EXPECT_EQ(second.group->id, "g");
  EXPECT_EQ(second.group->members, 0u) << "it is no member";
}

TEST_F(FeaturesSiteTest, GroupWithInlet) {
  services::RecordSpec spec = Recording(a_, kFirst, kBlocks);
  AddGroup(spec);
  const int64_t at_ns = spec.at_ns;
  const std::vector<services::Job> received = Stream(spec, {&AddWorker(/*inlets=*/true)});
  EXPECT_EQ(received[0].blocks, kBlocks);
  EXPECT_GE(received[0].end_time_ns, at_ns);
  const auto jobs = worker_.jobs().ListJobs();
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  ASSERT_FALSE(jobs->empty());
  EXPECT_THAT(jobs->front().notes, Contains(Field(&services::Note::code, "GROUP_MEMBER")));
  ASSERT_TRUE(jobs->front().timing.has_value());
  EXPECT_GE(jobs->front().timing->first_time_ns, at_ns);
}

TEST_F(FeaturesSiteTest, PartsWithInlet) {
  Worker& one = AddWorker(/*inlets=*/true);
  Worker& other = AddWorker(/*inlets=*/true);
  // So many that either end is there before the other has taken all.
  constexpr uint64_t kMany = 4000;
  const auto received = Stream(Recording(a_, kFirst, kMany), {&one, &other});
  EXPECT_GT(received[0].blocks, 0u);
  EXPECT_GT(received[1].blocks, 0u);
  EXPECT_EQ(received[0].blocks + received[1].blocks, kMany);
}

TEST_F(FeaturesSiteTest, CopiesWithInlet) {
  Worker& one = AddWorker(/*inlets=*/true);
  Worker& other = AddWorker(/*inlets=*/true);
  services::RecordSpec spec = Recording(a_, kFirst, kBlocks);
  spec.copies = 2;
  for (const services::Job& job : Stream(spec, {&one, &other})) EXPECT_EQ(job.blocks, kBlocks);
}

}  // namespace
}  // namespace tapedeck::site
