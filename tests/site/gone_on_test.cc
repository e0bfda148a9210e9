// A part of a recording that goes on between its reading and its deletion stays as it is.
#include "services/copy/part_state.h"
#include "services/copy/repair_drafts.h"
#include "services/rpc/client/node_client.h"
#include "tests/site/site.h"

namespace tapedeck::site {
namespace {

using services::copying::DeleteOnly;
using services::copying::PartNode;
using services::copying::PartState;

constexpr uint64_t kGoneOnNow = 12;
constexpr uint64_t kGoneOnBefore = 8;

class GoneOnTest : public SiteTest {
 protected:
  GoneOnTest() {
    AddLun(node_, "l0", 64 << 20);
    const auto made = node_.catalog().CreateChannel({.name = "luns/l0/channels/c0",
                                                     .block_bytes = 64 << 10,
                                                     .datatype = "cf32_le",
                                                     .sample_rate = 1e6});
    EXPECT_TRUE(made.ok()) << made.status();
    const services::Job job =
        AddWorker().Record(Recording(node_, "luns/l0/channels/c0", kGoneOnNow));
    ExpectWhole(job, kGoneOnNow);
    now_ = node_.RecordingNamed(job.recording);
    before_ = now_;
    before_.blocks = kGoneOnBefore;
    before_.bytes = kGoneOnBefore * before_.block_bytes;
    const auto shown = services::client::GetNode(services::client::MakeChannel(node_.address()),
                                                 absl::Seconds(10));
    EXPECT_TRUE(shown.ok()) << shown.status();
    part_node_ = {.peer = {.address = node_.address(), .rails = shown->rails},
                  .catalog = &node_.catalog(),
                  .recorder = &node_.recorder()};
  }

  Node& node_ = AddNode();
  PartNode part_node_;
  services::Recording now_;
  services::Recording before_;  // as somebody saw it who looked while it was shorter
};

TEST_F(GoneOnTest, IsNotReadAsIfItEndedWhereItDid) {
  PartState state{.recording = before_};
  ExpectRefused(ReadPart(
                    part_node_, absl::Seconds(30), [](uint64_t) { return true; }, &state),
                absl::StatusCode::kFailedPrecondition, "RECORDING_BUSY", "grew");
  state = {.recording = now_};
  const absl::Status read = ReadPart(
      part_node_, absl::Seconds(30), [](uint64_t) { return true; }, &state);
  EXPECT_TRUE(read.ok()) << read;
  EXPECT_EQ(state.whole.size(), kGoneOnNow);
}

TEST_F(GoneOnTest, IsNotDeletedForWhatItWas) {
  ExpectRefused(DeleteOnly(part_node_, before_), absl::StatusCode::kFailedPrecondition,
                "RECORDING_BUSY", "grew");
  EXPECT_EQ(node_.RecordingNamed(now_.name).blocks, kGoneOnNow);
  const absl::Status deleted = DeleteOnly(part_node_, now_);
  EXPECT_TRUE(deleted.ok()) << deleted;
  EXPECT_TRUE(absl::IsNotFound(node_.catalog().GetRecording(now_.name).status()));
}

}  // namespace
}  // namespace tapedeck::site
