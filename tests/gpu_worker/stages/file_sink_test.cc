// What a playback leaves of its target, however it ends.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "dataplane/status_macros.h"
#include "gpu_worker/stages/file/file.h"
#include "services/base/errors.h"
#include "tests/scratch_file.h"
#include "tests/services/noted.h"

namespace tapedeck::gpu_worker::stages::file {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

constexpr uint64_t kBlockBytes = 4096;

SinkSetup Place() {
  return {.files = services::files::FileRoots::Anywhere(), .block_bytes = kBlockBytes};
}

class FileSinkTest : public testing::Test {
 protected:
  // The names in the folder of the target, sorted.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }

  absl::StatusOr<std::unique_ptr<SinkStage>> Make(bool replace) const {
    TD_ASSIGN_OR_RETURN(auto sink, CreateSink({.path = target_, .replace = replace}, Place()));
    return std::move(sink.stage);
  }

  absl::Status Write(SinkStage& sink, uint64_t sequence, uint32_t flags = 0) const {
    const dataplane::BlockHeader header = {
        .sequence = sequence, .payload_bytes = kBlockBytes, .flags = flags};
    const bool missing = (flags & dataplane::kBlockMissing) != 0;
    return sink.Consume(header, std::as_bytes(std::span(missing ? std::string() : block_)));
  }

  const std::string target_ = ScratchPath("target");
  const std::filesystem::path folder_ = std::filesystem::path(target_).parent_path();
  const std::string block_ = std::string(kBlockBytes, 'b');
};

std::string ReasonOf(const absl::Status& status) {
  const auto reason = services::ReasonOf(status);
  return reason.has_value() ? reason->reason : std::string(status.message());
}

TEST_F(FileSinkTest, TheTargetComesWithTheEnd) {
  auto sink = Make(false).value();
  ASSERT_TRUE(Write(*sink, 0).ok());
  EXPECT_THAT(Names(), ElementsAre(MatchesRegex("target\\.part-[0-9a-f]{8}")));
  ASSERT_TRUE(sink->Close(absl::OkStatus()).ok());
  EXPECT_THAT(Names(), ElementsAre("target"));
  EXPECT_EQ(ReadFile(target_), block_);
}

// Their places are zeros, as they were recorded. Blocks of 512 samples, from sample 1000 on.
TEST_F(FileSinkTest, LostSamplesAreToldOf) {
  SinkSetup setup = Place();
  setup.datatype = "cf32_le";
  setup.annotations = {{.sample_start = 900, .sample_count = 150, .label = "lost"},
                       {.sample_start = 1500, .sample_count = 20, .label = "lost"},
                       {.sample_start = 1600, .sample_count = 9, .label = "lost", .foreign = true},
                       {.sample_start = 2024, .sample_count = 512, .label = "lost"},
                       {.sample_start = 2530,
                        .sample_count = 1000,
                        .label = "lost",
                        .comment = "7 samples in 3 places of this span"},
                       {.sample_start = 9000, .sample_count = 1, .label = "lost"}};
  MadeSink sink = CreateSink({.path = target_, .replace = false}, setup).value();
  for (uint64_t i = 0; i < 4; ++i) {
    const bool missing = i == 2;
    const dataplane::BlockHeader header = {
        .sequence = i,
        .sample_index = 1000 + 512 * i,
        .payload_bytes = kBlockBytes,
        .flags = missing ? uint32_t{dataplane::kBlockMissing} : 0};
    ASSERT_TRUE(
        sink.stage->Consume(header, std::as_bytes(std::span(missing ? std::string() : block_)))
            .ok());
  }
  EXPECT_THAT(sink.report->Notes(), testing::IsEmpty());
  EXPECT_FALSE(sink.stage->Close(absl::OkStatus()).ok()) << "a block is missing";
  const uint64_t lost = 50 + 20 + 7;  // the third ones lie in the missing block
  EXPECT_THAT(sink.report->Notes(),
              ElementsAre(services::Noted("LOST_AS_ZEROS|samples=" + std::to_string(lost))));
}

TEST_F(FileSinkTest, WhatIsThereIsRefusedUnlessItIsToBeReplaced) {
  WriteFile(target_, "old");
  EXPECT_EQ(ReasonOf(Make(false).status()), "FILE_EXISTS");
  EXPECT_EQ(ReadFile(target_), "old");
  ASSERT_EQ(chmod(target_.c_str(), 0640), 0);
  auto sink = Make(true).value();
  ASSERT_TRUE(Write(*sink, 0).ok());
  EXPECT_EQ(ReadFile(target_), "old");
  ASSERT_TRUE(sink->Close(absl::OkStatus()).ok());
  EXPECT_EQ(ReadFile(target_), block_);
  EXPECT_EQ(std::filesystem::status(target_).permissions(), std::filesystem::perms(0640));
  EXPECT_THAT(Names(), ElementsAre("target"));
}

TEST_F(FileSinkTest, AFailureLeavesTheOldFileAlone) {
  WriteFile(target_, "old");
  for (const bool closed : {true, false}) {
    auto sink = Make(true).value();
    ASSERT_TRUE(Write(*sink, 0).ok());
    if (closed) {
      EXPECT_TRUE(sink->Close(absl::UnavailableError("the peer went away")).ok());
    }
    if (!closed) sink.reset();
    EXPECT_THAT(Names(), ElementsAre("target"));
    EXPECT_EQ(ReadFile(target_), "old");
  }
}

TEST_F(FileSinkTest, ATargetThatCameMeanwhileStays) {
  auto sink = Make(false).value();
  ASSERT_TRUE(Write(*sink, 0).ok());
  WriteFile(target_, "somebody else's");
  EXPECT_EQ(ReasonOf(sink->Close(absl::OkStatus())), "FILE_EXISTS");
  sink.reset();
  EXPECT_EQ(ReadFile(target_), "somebody else's");
  EXPECT_THAT(Names(), ElementsAre("target"));
}

TEST_F(FileSinkTest, WithMissingBlocksThePartStaysAndTheErrorNamesIt) {
  WriteFile(target_, "old");
  auto sink = Make(true).value();
  ASSERT_TRUE(Write(*sink, 1).ok());
  ASSERT_TRUE(Write(*sink, 0, dataplane::kBlockMissing).ok());
  const absl::Status status = sink->Close(absl::OkStatus());
  sink.reset();
  ASSERT_EQ(ReasonOf(status), "BLOCK_DAMAGED");
  const std::string part = services::ReasonOf(status)->metadata.at("path");
  EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  EXPECT_EQ(ReadFile(part), std::string(kBlockBytes, '\0') + block_);
  EXPECT_EQ(ReadFile(target_), "old");
}

TEST_F(FileSinkTest, WhatIsGoodOfADamagedBlockIsKeptAndTheFileIsNotTakenForWhole) {
  auto sink = Make(false).value();
  ASSERT_TRUE(Write(*sink, 0, dataplane::kBlockDamaged).ok());
  const absl::Status status = sink->Close(absl::OkStatus());
  sink.reset();
  ASSERT_EQ(ReasonOf(status), "BLOCK_DAMAGED");
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("0 block(s) of the recording are missing and 1 damaged"));
  EXPECT_EQ(ReadFile(services::ReasonOf(status)->metadata.at("path")), block_);
  EXPECT_THAT(Names(), testing::Not(testing::Contains("target")));
}

// Nothing here may wait: a FIFO without a reader would, for ever.
TEST_F(FileSinkTest, WhatIsNoRegularFileIsRefused) {
  ASSERT_EQ(mkfifo(target_.c_str(), 0600), 0);
  std::filesystem::create_directory(folder_ / "folder");
  std::filesystem::create_symlink("nowhere", folder_ / "link");
  for (const std::string& path :
       {target_, (folder_ / "folder").string(), (folder_ / "link").string(), folder_.string() + "/",
        std::string("/dev/null"), std::string("/dev/full")}) {
    const auto sink = CreateSink({.path = path, .replace = true}, Place());
    EXPECT_EQ(ReasonOf(sink.status()), "FILE_INVALID") << path;
  }
  EXPECT_THAT(Names(), ElementsAre("folder", "link", "target"));
}

TEST_F(FileSinkTest, AFolderThatIsNotThereIsNotFound) {
  const auto sink = CreateSink({.path = "/nowhere/at/all"}, Place());
  EXPECT_EQ(ReasonOf(sink.status()), "FILE_NOT_FOUND");
}

TEST_F(FileSinkTest, OnlyWhereTheWorkerMayWrite) {
  SinkSetup setup = Place();
  setup.files = *services::files::FileRoots::Parse({"write:" + (folder_ / "out").string()});
  EXPECT_EQ(ReasonOf(CreateSink({.path = target_}, setup).status()), "FILE_OUTSIDE_ROOTS");
  EXPECT_THAT(Names(), ElementsAre());
  std::filesystem::create_directory(folder_ / "out");
  EXPECT_TRUE(CreateSink({.path = folder_ / "out" / "target"}, setup).ok());
}

}  // namespace
}  // namespace tapedeck::gpu_worker::stages::file
