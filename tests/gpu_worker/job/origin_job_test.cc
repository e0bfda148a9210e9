// What a verification compares, against a real storage node: no label has any part in it, and one
// that compares nothing does not end as one that found no difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/gpu_worker/job/job_fixture.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/scratch_file.h"
#include "tests/services/noted.h"

namespace tapedeck::gpu_worker {
namespace {

using services::JobState;
using services::Recording;
using services::RecordingUpdate;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr char kBeside[] = "luns/l/channels/beside";

class OriginJobTest : public JobFixture {
 protected:
  void SetUp() override {
    StartNode(KindNamed("inproc"));
    AddChannel(kChannel, kTestBlockBytes, 1e6);
    UseDevice(pipeline::ChooseDevice("host").value());
  }

  // Its name.
  std::string RecordOne(services::StageSpec source, std::vector<services::StageSpec> transforms,
                        uint64_t blocks) {
    const auto job = Finish(job::Job::StartRecord(
        "jobs/1",
        {.transfer = {.target = kChannel, .transforms = std::move(transforms)},
         .source = std::move(source),
         .blocks = blocks},
        Environment(), Nodes()));
    EXPECT_TRUE(job.ok() && job->error.ok()) << job.status() << job->error;
    return job.ok() ? job->recording : "";
  }

  services::Job Verified(const std::string& recording) {
    return Finish(job::Job::StartPlayback("jobs/2",
                                          {.transfer = {.target = recording}, .sink = Verify()},
                                          Environment(), Nodes()))
        .value();
  }

  Recording Get(const std::string& name) { return *node_->recordings().GetRecording(name); }

  // Of the SigMF where the only recording lies.
  std::filesystem::path MetaInPlace() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.path())) {
      if (entry.path().extension() == ".sigmf-meta") return entry.path();
    }
    return {};
  }

  absl::StatusOr<services::Job> RecordFile(const std::filesystem::path& meta,
                                           services::RecordSpec spec) {
    spec.transfer.target = kChannel;
    spec.source = FileSource(meta);
    return Finish(job::Job::StartRecord("jobs/1", spec, Environment(), Nodes()));
  }
};

// Names that once meant something, and values that would break it.
std::string AnyName(std::mt19937& random) {
  static constexpr const char* kNames[] = {
      "source",   "seed",        "tones",      "noise",     "transforms", "fft",
      "datatype", "device",      "recorder",   "beside",    "group",      "group_member",
      "part",     "part_of",     "move_draft", "repairs",   "site",       "origin",
      "a.b",      "labels.site", "clock",      "starts_at", "version",    "synth_version"};
  return kNames[random() % std::size(kNames)];
}
std::string AnyValue(std::mt19937& random) {
  static constexpr const char* kValues[] = {"",           "file", "0",    "1/2",
                                            "power,blur", "cu8",  "\xff", "r"};
  return kValues[random() % std::size(kValues)];
}

TEST_F(OriginJobTest, AThousandUpdatesOfLabelsChangeNothingThatIsCompared) {
  const std::string name = RecordOne(Synth(), {Fft(64)}, 8);
  const Recording before = Get(name);
  ASSERT_EQ(before.origin.source.name, "synth");
  ASSERT_EQ(before.origin.transforms.size(), 1u);
  EXPECT_TRUE(before.labels.empty());
  std::mt19937 random(42);
  services::model::Labels labels;
  for (int i = 0; i < 1000; ++i) {
    RecordingUpdate update{.name = name};
    if (random() % 8 == 0) {
      labels = {{AnyName(random), AnyValue(random)}};
      update.Set(&Recording::labels, labels);
    } else {
      const std::string label = AnyName(random);
      update.fields.insert("labels." + label);
      labels.erase(label);
      if (random() % 3 != 0) labels[label] = update.to.labels[label] = AnyValue(random);
    }
    const auto after = node_->recordings().UpdateRecording(update);
    ASSERT_TRUE(after.ok()) << after.status();
    ASSERT_EQ(after->labels.size(), labels.size()) << i;
    ASSERT_EQ(after->origin, before.origin) << i;
    ASSERT_FALSE(after->group.has_value() || after->part.has_value()) << i;
    if (i % 250 != 249) continue;
    const services::Job played = Verified(name);
    ASSERT_EQ(played.state, JobState::kSucceeded) << played.error;
    ASSERT_THAT(played.notes, Not(Contains(services::Noted("CONTENT_NOT_COMPARED")))) << i;
  }
}

TEST_F(OriginJobTest, ARecordingWithoutAnythingToCompareDoesNotSucceed) {
  const std::string path = ScratchPath("in");
  WriteFile(path, std::string(3 * kTestBlockBytes, 'x'));
  const services::Job played = Verified(RecordOne(FileSource(path), {}, 0));
  EXPECT_TRUE(played.error.ok()) << played.error;
  EXPECT_EQ(played.state, JobState::kNotCompared);
  EXPECT_EQ(played.blocks, 3u);
  EXPECT_THAT(played.notes,
              Contains(services::Noted("CONTENT_NOT_COMPARED|cause=SOURCE|source=file")));
}

TEST_F(OriginJobTest, APlaybackThatComparesNothingElseSucceeds) {
  const std::string name = RecordOne(Synth(), {}, 3);
  const auto played = Finish(job::Job::StartPlayback(
      "jobs/2", {.transfer = {.target = name}, .sink = {"null", {}}}, Environment(), Nodes()));
  ASSERT_TRUE(played.ok()) << played.status();
  EXPECT_EQ(played->state, JobState::kSucceeded);
}

// Stages that are alike are told apart.
TEST_F(OriginJobTest, TwoTransformsOfOneKindVerify) {
  const std::string name = RecordOne(Synth(), {Fft(64), Fft(16)}, 4);
  ASSERT_EQ(Get(name).origin.transforms.size(), 2u);
  EXPECT_EQ(Get(name).origin.transforms[1].parameters.at("points"), "16");
  const services::Job played = Verified(name);
  EXPECT_EQ(played.state, JobState::kSucceeded) << played.error;
}

// They are drawn as spectra, and nothing takes them for samples of the file that were transformed.
TEST_F(OriginJobTest, AFileOfSpectraHoldsSpectraAgain) {
  const Recording spectra = Get(RecordOne(Synth(), {Fft(64)}, 4));
  const std::filesystem::path meta = MetaInPlace();
  AddChannel(kBeside, kTestBlockBytes, 1e6);
  const auto job = RecordFile(meta, {.outputs = {{.channel = kBeside}}});
  ASSERT_TRUE(job.ok() && job->error.ok()) << job.status();
  for (const std::string& name : {job->recording, job->outputs.front().recording}) {
    EXPECT_EQ(Get(name).origin.transforms, spectra.origin.transforms) << name;
    const auto seen = node_->view().ReadSpectrogram(
        {.recording = name, .span = {.count = 1024}, .columns = 64, .rows = 4});
    ASSERT_TRUE(seen.ok()) << seen.status();
    EXPECT_EQ(seen->bins, 64u);
    EXPECT_EQ(Verified(name).state, JobState::kNotCompared);
  }
  const auto again = RecordFile(meta, {.transfer = {.transforms = {Fft(16)}}});
  ASSERT_TRUE(again.ok() && again->error.ok()) << again.status();
  const auto made = Get(again->recording).origin.transforms;
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].parameters.at("points"), "64");
  EXPECT_EQ(made[1].parameters.at("points"), "16");
}

TEST_F(OriginJobTest, AFileWithMoreTransformsThanARecordingTellsIsRefused) {
  RecordOne(Synth(), {Fft(64)}, 4);
  AddChannel(kBeside, kTestBlockBytes, 1e6);
  const std::filesystem::path meta = MetaInPlace();
  nlohmann::json object = nlohmann::json::parse(std::ifstream(meta));
  nlohmann::json& transforms = object["global"]["tapedeck:origin"]["transforms"];
  while (transforms.size() < services::model::kMaxOriginTransforms) {
    transforms.push_back(transforms[0]);
  }
  std::ofstream(meta) << object;
  EXPECT_TRUE(RecordFile(meta, {}).ok());
  for (const services::RecordSpec& spec :
       {services::RecordSpec{.transfer = {.transforms = {Fft(16)}}},
        services::RecordSpec{.outputs = {{.channel = kBeside, .transforms = {Fft(16)}}}}}) {
    const absl::Status refused = RecordFile(meta, spec).status();
    ASSERT_TRUE(services::ReasonOf(refused).has_value()) << refused;
    EXPECT_EQ(services::ReasonOf(refused)->reason, "LIMIT_REACHED");
    EXPECT_THAT(std::string(refused.message()), HasSubstr("32 transforms made the samples"));
  }
}

}  // namespace
}  // namespace tapedeck::gpu_worker
