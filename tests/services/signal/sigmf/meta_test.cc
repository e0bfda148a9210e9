#include "services/signal/sigmf/meta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/base/files/input_file.h"
#include "tests/scratch_file.h"

namespace tapedeck::services::sigmf {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

absl::StatusOr<SigmfRecording> Read(const std::string& text) {
  const std::string path = ScratchPath("a.sigmf-meta");
  WriteFile(path, text);
  TD_ASSIGN_OR_RETURN(const auto file, files::OpenInput(path));
  return ReadSigmfMeta(file);
}

TEST(SigmfTest, ReadsWhatIsThere) {
  const auto meta = Read(R"({"global": {"core:datatype": "ci16_le", "core:num_channels": 2}})");
  ASSERT_TRUE(meta.ok()) << meta.status();
  EXPECT_EQ(meta->datatype, "ci16_le");
  EXPECT_EQ(meta->channels, 2u);
  EXPECT_THAT(meta->data_path, EndsWith("/a.sigmf-data"));
}

TEST(SigmfTest, FindsANonConformingDataset) {
  const auto meta = Read(R"({"global": {"core:datatype": "cu8", "core:dataset": "b.raw",
      "core:trailing_bytes": 4}, "captures": [{"core:sample_start": 0, "core:header_bytes": 8}]})");
  ASSERT_TRUE(meta.ok()) << meta.status();
  EXPECT_THAT(meta->data_path, EndsWith("/b.raw"));
}

TEST(SigmfTest, NamesWhatIsWrong) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "line 1, column 1"},
      {"{", "line 1, column 2"},
      {"[]", "JSON"},
      {"{}", "global"},
      {R"({"global": 1})", "global"},
      {R"({"global": {}})", "core:datatype"},
      {R"({"global": {"core:datatype": 8}})", "core:datatype"},
      {R"({"global": {"core:datatype": "cu8", "core:num_channels": 0}})", "core:num_channels"},
      {R"({"global": {"core:datatype": "cu8", "core:num_channels": "2"}})", "core:num_channels"},
      {R"({"global": {"core:datatype": "cu8", "core:metadata_only": true}})", "metadata_only"},
      {R"({"global": {"core:datatype": "cu8", "core:dataset": "../x"}})", "core:dataset"},
      {R"({"global": {"core:datatype": "cu8", "core:dataset": 3}})", "core:dataset"},
  };
  for (const auto& [text, part] : wrong) {
    const auto meta = Read(text);
    ASSERT_FALSE(meta.ok()) << text;
    EXPECT_EQ(meta.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(meta.status().message()), HasSubstr(part));
    EXPECT_EQ(services::ReasonOf(meta.status())->reason, "FILE_INVALID");
  }
}

TEST(SigmfTest, KeysOfOthersAreTakenForNoneOfCore) {
  std::string text = R"({"annotations": [)";
  for (int i = 0; i < 20'000; ++i) {
    text += R"({"core:sample_start": 0, "core:datatype": {}, "a": [1, null, 2.5, true]},)";
  }
  text += R"({"core:sample_start": 0}], "captures": [{"core:sample_start": 0,
      "a": {"core:header_bytes": "x"}}],
      "global": {"x": {"core:datatype": 7}, "core:datatype": "cu8", "core:num_channels": 3,
      "core:trailing_bytes": 0, "y": [{"core:dataset": "z"}]}})";
  const auto meta = Read(text);
  ASSERT_TRUE(meta.ok()) << meta.status();
  EXPECT_EQ(meta->datatype, "cu8");
  EXPECT_EQ(meta->channels, 3u);
  EXPECT_THAT(meta->data_path, EndsWith("/a.sigmf-data"));
}

TEST(SigmfTest, RefusesWhatNoRecordingHas) {
  const std::string deep = R"({"global": {"core:datatype": "cu8", "x": )";
  for (const std::string& text :
       {deep + std::string(1'000'000, '['),
        deep + std::string(100, '[') + std::string(100, ']') + "}}",
        std::string(R"({"global": {"core:datatype": "cu8", "core:dataset": ".."}})"),
        std::string(R"({"global": {"core:datatype": "cu8", "core:dataset": "a\u0000b"}})"),
        std::string(R"({"global": {"core:datatype": "cu8", "core:num_channels": -1}})"),
        std::string(R"({"global": [], "captures": {}})"), std::string(R"([{"global": {}}])")}) {
    EXPECT_EQ(Read(text).status().code(), absl::StatusCode::kInvalidArgument) << text.substr(0, 80);
  }
}

}  // namespace
}  // namespace tapedeck::services::sigmf
