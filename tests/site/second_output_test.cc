// One job records spectra of synth into one channel and their averages into another. Both verify,
// and where the second finds no room, the first is recorded all the same.

#include <gmock/gmock.h>

#include "tests/site/site.h"

namespace tapedeck::site {
namespace {

using services::model::JobState;
using services::model::RecordingState;

constexpr char kFirst[] = "luns/l0/channels/c0";
constexpr char kSpectra[] = "luns/l0/channels/spectra";
constexpr char kTiny[] = "luns/tiny/channels/spectra";

class SecondOutputSiteTest : public SiteTest {
 protected:
  SecondOutputSiteTest() {
    AddLun(node_, "l0", uint64_t{4} << 30);
    AddLun(node_, "tiny", 1 << 20);
    AddChannel({.name = kFirst, .block_bytes = 1 << 20, .datatype = "cf32_le", .sample_rate = 1e6});
    AddChannel(
        {.name = kSpectra, .block_bytes = 64 << 10, .datatype = "rf32_le", .sample_rate = 15625});
    AddChannel({.name = kTiny, .block_bytes = 64 << 10, .datatype = "rf32_le"});
  }

  void AddChannel(const services::Channel& channel) {
    const auto made = node_.catalog().CreateChannel(channel);
    EXPECT_TRUE(made.ok()) << made.status();
  }

  services::RecordSpec Spectra(const std::string& channel, const services::StageSpec& transform,
                               uint64_t blocks = 0) {
    services::RecordSpec spec = Recording(node_, kFirst, blocks);
    spec.transfer.transforms = {{"fft", {{"points", "1024"}}}};
    spec.outputs = {{.channel = channel, .transforms = {transform}}};
    return spec;
  }

  // All of it, compared with what synth and the transforms make.
  void ExpectPlays(const std::string& channel, uint64_t blocks) {
    const services::Job played = worker_.Play(Playing(node_, node_.Newest(channel).name));
    ExpectWhole(played, blocks);
    for (const services::Note& note : played.notes) EXPECT_NE(note.code, "CONTENT_NOT_COMPARED");
  }

  void ExpectNoSecond(const services::RecordSpec& spec) {
    ExpectRefused(worker_.jobs().StartRecord(spec).status(), absl::StatusCode::kInvalidArgument,
                  "ARGUMENT_INVALID");
  }

  Node& node_ = AddNode();
  Worker& worker_ = AddWorker();
  // An average is made of 512 KiB and has 4 KiB: a block of 64 KiB holds those of 8 MiB.
  const services::StageSpec averaged_ = {"power", {{"points", "1024"}, {"average", "64"}}};
};

TEST_F(SecondOutputSiteTest, BothVerify) {
  const services::Job job = worker_.Record(Spectra(kSpectra, averaged_, 100));
  ExpectWhole(job, 100);
  ASSERT_EQ(job.outputs.size(), 1u);
  EXPECT_EQ(job.outputs[0].blocks, 13u);
  EXPECT_EQ(job.outputs[0].bytes, 200u * 4096);
  EXPECT_EQ(job.outputs[0].lost_blocks, 0u);
  EXPECT_TRUE(job.outputs[0].error.ok()) << job.outputs[0].error;
  ExpectPlays(kFirst, 100);
  ExpectPlays(kSpectra, 13);
  const services::Recording spectra = node_.Newest(kSpectra);
  EXPECT_EQ(spectra.state, RecordingState::kSealed);
  EXPECT_EQ(spectra.origin.beside, kFirst);
  std::vector<std::string> transforms;
  for (const auto& stage : spectra.origin.transforms) transforms.push_back(stage.name);
  EXPECT_THAT(transforms, testing::ElementsAre("fft", "power"));
  EXPECT_THAT(spectra.labels, testing::IsEmpty());
}

TEST_F(SecondOutputSiteTest, FirstGoesOnWhenSecondIsFull) {
  const auto started = worker_.jobs().StartRecord(Spectra(kTiny, {"power", {{"points", "1024"}}}));
  ASSERT_TRUE(started.ok()) << started.status();
  services::Job now;
  EXPECT_TRUE(Await([&] {
    now = worker_.Now(*started);
    return !now.outputs.empty() && !now.outputs[0].error.ok();
  })) << "the second output is not full";
  EXPECT_EQ(now.state, JobState::kRunning) << "the first ends with the second";
  // More of it comes.
  EXPECT_TRUE(AwaitBlocks(worker_, *started, now.blocks + 1));
  ASSERT_TRUE(worker_.jobs().CancelJob(started->name).ok());
  const services::Job ended = worker_.Ended(started);
  EXPECT_EQ(ended.state, JobState::kFailed);
  ExpectRefused(ended.error, absl::StatusCode::kResourceExhausted, "LUN_FULL",
                "the second output, luns/tiny/channels/spectra: ");
  EXPECT_GT(ended.blocks, now.blocks);
  EXPECT_EQ(ended.lost_blocks, 0u);
  ASSERT_EQ(ended.outputs.size(), 1u);
  ExpectRefused(ended.outputs[0].error, absl::StatusCode::kResourceExhausted, "LUN_FULL");
  ExpectPlays(kFirst, ended.blocks);
}

TEST_F(SecondOutputSiteTest, RefusesWhatCannotBe) {
  ExpectNoSecond(Spectra(kSpectra, {"detect", {{"threshold", "0"}}}, 1));
  services::RecordSpec same = Spectra(kFirst, averaged_, 1);
  same.outputs[0].transforms.clear();
  ExpectNoSecond(same);
}

}  // namespace
}  // namespace tapedeck::site
