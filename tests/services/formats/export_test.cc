// Recordings become files, whatever was missing of them and wherever it was broken off.
#include "services/formats/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "services/formats/io/export_file.h"
#include "services/model/recording/lost.h"
#include "services/signal/sigmf/text.h"
#include "tests/services/formats/feed.h"
#include "tests/services/noted.h"

namespace tapedeck::services::formats {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

class ExportTest : public testing::Test {
 protected:
  absl::StatusOr<Exported> Run(const std::string& format, const Range& range = {}) {
    Recording recording = RecordingOf(feed_.samples, "ci16_le", feed_.missing.size());
    recording.annotations = signals_;
    recording.origin.transforms = transforms_;
    const auto subject = SubjectOf(recording, range);
    if (!subject.ok()) return subject.status();
    ExportRequest request = RequestFor(format, path_, feed_);
    request.resume = resume_;
    request.gaps = gaps_;
    return Export(*subject, request);
  }
  std::filesystem::path Folder() const { return std::filesystem::path(path_).parent_path(); }
  std::vector<std::string> Left() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(Folder())) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }
  void Clear() const {
    for (const std::string& name : Left()) std::filesystem::remove(Folder() / name);
  }
  // What an export has made, as a file that comes in.
  static auto Open(const std::string& format, const Exported& exported) {
    const std::string meta = absl::StrReplaceAll(exported.file, {{".sigmf-data", ".sigmf-meta"}});
    return FormatNamed(format, Use::kImport)->read(meta, {});
  }

  Feed feed_{.samples = Samples(5 * kBlockBytes + 100)};
  const std::string path_ = ScratchPath("file");
  std::vector<Annotation> signals_;
  std::vector<model::OriginStage> transforms_;
  bool resume_ = false;
  bool gaps_ = false;
};

TEST_F(ExportTest, RawIsWhatWasRecorded) {
  const auto exported = Run("raw");
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(ReadFile(path_), feed_.samples);
  EXPECT_EQ(exported->samples, feed_.samples.size() / 4);
  EXPECT_THAT(Left(), ElementsAre("file"));
}

TEST_F(ExportTest, ARangeIsOfTheseSamplesAlone) {
  ASSERT_TRUE(Run("raw", {.first = 1000, .count = 2500}).ok());
  EXPECT_EQ(ReadFile(path_), feed_.samples.substr(4000, 10000));
}

TEST_F(ExportTest, ARangeBeyondTheEndIsRefused) {
  EXPECT_EQ(ReasonIn(Run("raw", {.first = 6000}).status()), "ARGUMENT_INVALID");
  const uint64_t samples = feed_.samples.size() / 4;
  EXPECT_EQ(ReasonIn(Run("raw", {.first = samples}).status()), "ARGUMENT_INVALID")
      << "an empty file";
  EXPECT_EQ(ReasonIn(Run("raw", {.first = 1, .count = 6000}).status()), "ARGUMENT_INVALID");
  EXPECT_EQ(ReasonIn(Run("raw", {.first = UINT64_MAX}).status()), "ARGUMENT_INVALID");
}

TEST_F(ExportTest, NothingThatIsThereIsReplaced) {
  WriteFile(path_, "mine");
  EXPECT_EQ(ReasonIn(Run("raw").status()), "FILE_EXISTS");
  EXPECT_EQ(ReadFile(path_), "mine");
  std::filesystem::remove(path_);
  WriteFile(path_ + ".export", "mine");
  EXPECT_EQ(ReasonIn(Run("raw").status()), "FILE_EXISTS");
  resume_ = true;
  EXPECT_EQ(ReasonIn(Run("raw").status()), "FILE_NOT_FOUND") << "there is no mark";
  EXPECT_EQ(ReadFile(path_ + ".export"), "mine");
}

TEST_F(ExportTest, WhatIsMissingIsZerosWhereTheyAreWelcome) {
  feed_.missing = {1, 2};
  const auto refused = Run("raw");
  EXPECT_EQ(ReasonIn(refused.status()), "BLOCK_DAMAGED");
  EXPECT_EQ(refused.status().message(),
            "luns/l/channels/c/recordings/r: 2048 samples are missing or damaged, and raw cannot "
            "say which; add --gaps and --resume to write zeros for them");
  gaps_ = resume_ = true;
  const auto exported = Run("raw");
  ASSERT_TRUE(exported.ok()) << exported.status();
  std::string expected = feed_.samples;
  expected.replace(kBlockBytes, 2 * kBlockBytes, 2 * kBlockBytes, '\0');
  EXPECT_EQ(ReadFile(path_), expected);
  EXPECT_EQ(exported->missing_samples, 2 * kBlockBytes / 4);
}

// The stream's sample 1000 is the recording's first one, and block 1 has its samples from 2024 on.
TEST_F(ExportTest, WhatIsLostNeedsTheSameLeave) {
  feed_.sample_bytes = 4;
  feed_.missing = {1};
  signals_ = {{.sample_start = 1010, .sample_count = 5, .label = "lost"},
              {.sample_start = 2000, .sample_count = 30, .label = "lost"},
              {.sample_start = 1020, .sample_count = 5, .label = "lost", .foreign = true},
              {.sample_start = 900, .sample_count = 50, .label = "lost"}};
  for (const std::string format : {"raw", "wav"}) {
    gaps_ = resume_ = false;
    const auto refused = Run(format);
    EXPECT_EQ(ReasonIn(refused.status()), "BLOCK_DAMAGED") << format;
    EXPECT_THAT(refused.status().message(),
                HasSubstr("1024 samples are missing or damaged, 29 are lost within blocks, and"));
    gaps_ = resume_ = true;
    const auto exported = Run(format);
    ASSERT_TRUE(exported.ok()) << exported.status();
    EXPECT_EQ(exported->missing_samples, 1024u);
    EXPECT_EQ(exported->lost_samples, 29u);
    Clear();
  }
  feed_.missing = {};
  gaps_ = resume_ = false;
  EXPECT_EQ(ReasonIn(Run("raw", {.first = 10, .count = 1}).status()), "BLOCK_DAMAGED");
  Clear();
  EXPECT_TRUE(Run("raw", {.first = 15, .count = 900}).ok());
}

TEST_F(ExportTest, WhatIsLostIsToldAndCounted) {
  feed_.sample_bytes = 4;
  feed_.missing = {1};
  signals_ = {{.sample_start = 1010, .sample_count = 5, .label = "lost"},
              {.sample_start = 2000, .sample_count = 30, .label = "lost"}};
  for (const std::string format : {"sigmf", "vita49-pcap", "hdf5"}) {
    const auto exported = Run(format);
    if (absl::IsUnimplemented(exported.status())) continue;
    ASSERT_TRUE(exported.ok()) << exported.status();
    EXPECT_EQ(exported->missing_samples, 1024u) << format;
    EXPECT_EQ(exported->lost_samples, 29u) << format;
    const auto reader = Open(format, *exported);
    ASSERT_TRUE(reader.ok()) << reader.status();
    uint64_t missing = 0;
    for (const SampleRange& gap : (*reader)->content().gaps) missing += gap.count;
    EXPECT_EQ(missing, format == "sigmf" ? 1024u : 1024u + 29u) << "the others are annotated";
    Clear();
  }
}

// A worker tells of many losses together.
TEST_F(ExportTest, OfLossesWithoutTheirPlacesANoteTells) {
  signals_ = {{.sample_start = 1500,
               .sample_count = 2000,
               .label = "lost",
               .comment = "40 samples in 3 places of this span"},
              {.sample_start = 1010, .sample_count = 5, .label = "lost"}};
  feed_.sample_bytes = 4;
  const auto refused = Run("raw");
  EXPECT_EQ(ReasonIn(refused.status()), "BLOCK_DAMAGED");
  EXPECT_THAT(refused.status().message(), HasSubstr("45 are lost within blocks"));
  gaps_ = resume_ = true;
  const auto told = Run("raw");
  ASSERT_TRUE(told.ok()) << told.status();
  EXPECT_EQ(told->lost_samples, 45u);
  EXPECT_THAT(told->notes,
              ElementsAre(testing::AllOf(Noted("LOST_SOMEWHERE|samples=40|first=500|last=2499"),
                                         testing::Not(Noted("LOST_SOMEWHERE|at_most=true")))));
}

// Segments of a stream have parts of what was told together.
TEST_F(ExportTest, LossesToldInSeveralPartsCountOnce) {
  const Annotation whole{.sample_start = 1500,
                         .sample_count = 2000,
                         .label = "lost",
                         .comment = model::TextOfLost(40, 3)};
  feed_.sample_bytes = 4;
  gaps_ = true;
  signals_ = {model::PartOf(whole, 1500, 2100), model::PartOf(whole, 2100, 3500)};
  const auto all = Run("raw");
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->lost_samples, 40u);
  EXPECT_THAT(all->notes,
              ElementsAre(testing::AllOf(Noted("LOST_SOMEWHERE|samples=40|first=500|last=2499"),
                                         testing::Not(Noted("LOST_SOMEWHERE|at_most=true")))));
  Clear();
  gaps_ = false;
  const auto refused = Run("raw", {.first = 480, .count = 40});
  EXPECT_THAT(refused.status().message(), HasSubstr(", up to 20 are lost within blocks, and raw"));
  Clear();
  gaps_ = true;
  signals_.pop_back();  // its segment is gone
  const auto some = Run("raw");
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_EQ(some->lost_samples, 40u);
  EXPECT_THAT(some->notes, ElementsAre(Noted("LOST_SOMEWHERE|samples=40|at_most=true")));
  Clear();
  // What is outside has no room for all of them.
  const auto most = Run("raw", {.first = 490, .count = 2000});
  ASSERT_TRUE(most.ok()) << most.status();
  EXPECT_EQ(most->lost_samples, 40u);
}

TEST_F(ExportTest, APartOfLossesToldTogetherSaysOfWhichSamples) {
  signals_ = {{.sample_start = 1050,
               .sample_count = 500,
               .label = "lost",
               .comment = model::TextOfLost(40, 3)}};
  feed_.sample_bytes = 4;
  for (const Range& range : {Range{.first = 100, .count = 200}, Range{.first = 0, .count = 200}}) {
    ASSERT_TRUE(Run("sigmf", range).ok());
    const json meta = json::parse(ReadFile(path_ + ".sigmf-meta"));
    EXPECT_EQ(meta["annotations"][0]["core:comment"],
              "40 samples in 3 places of samples 1050 to 1549 of the stream");
    Clear();
  }
}

TEST_F(ExportTest, SigmfSaysWhatIsMissing) {
  feed_.missing = {0, 3};
  ASSERT_TRUE(Run("sigmf", {.first = 100}).ok());
  const json meta = json::parse(ReadFile(path_ + ".sigmf-meta"));
  EXPECT_EQ(meta["annotations"].size(), 2u);
  EXPECT_EQ(meta["annotations"][0]["core:sample_count"], 1024 - 100);
  EXPECT_EQ(meta["annotations"][1]["core:sample_start"], 3 * 1024 - 100);
  EXPECT_EQ(meta["captures"][0]["core:sample_start"], 1024 - 100);
  EXPECT_EQ(meta["captures"][1]["core:sample_start"], 4 * 1024 - 100);
  EXPECT_EQ(meta["captures"][1]["core:global_index"], 1000 + 4 * kBlockBytes);
}

// Those of its samples, at their places: one that lasts into it begins with it.
TEST_F(ExportTest, ARangeHasTheAnnotationsOfItsSamples) {
  feed_.sample_bytes = 4;  // the stream's sample 1000 is the recording's first one
  signals_ = {{.sample_start = 1000, .sample_count = 100, .label = "before"},
              {.sample_start = 1050, .sample_count = 51, .label = "lost"},
              {.sample_start = 1090, .sample_count = 5000, .label = "missing"},
              {.sample_start = 1099, .label = "point before"},
              {.sample_start = 1100, .label = "point"},
              {.sample_start = 1150, .sample_count = 10, .label = "burst"},
              {.sample_start = 1299, .sample_count = 9, .label = "lost"},
              {.sample_start = 1300, .sample_count = 9, .label = "behind"}};
  ASSERT_TRUE(Run("sigmf", {.first = 100, .count = 200}).ok());
  const json meta = json::parse(ReadFile(path_ + ".sigmf-meta"));
  std::vector<std::string> found;
  for (const json& one : meta["annotations"]) {
    found.push_back(absl::StrCat(
        one["core:label"].get<std::string>(), " ", one["core:sample_start"].get<int>(), "+",
        one["core:sample_count"].get<int>(), one.contains("tapedeck:lost") ? " lost" : ""));
  }
  EXPECT_THAT(found, ElementsAre("lost 0+1 lost", "missing 0+200", "point 0+0", "burst 50+10",
                                 "lost 199+1 lost"));
}

// Its first block is missing: nothing but its place tells where the stream's samples are.
TEST_F(ExportTest, AnnotationsOfAMissingBeginningStay) {
  feed_.sample_bytes = 4;
  feed_.missing = {0};
  signals_ = {{.sample_start = 900, .sample_count = 110, .label = "lost"},
              {.sample_start = 1007, .label = "point"}};
  ASSERT_TRUE(Run("sigmf").ok());
  const json marks = json::parse(ReadFile(path_ + ".sigmf-meta"))["annotations"];
  ASSERT_EQ(marks.size(), 3u);
  EXPECT_EQ(marks[0]["core:sample_start"], 0);
  EXPECT_EQ(marks[0]["core:sample_count"], 10);
  EXPECT_EQ(marks[2]["core:sample_start"], 7);
}

// Of earlier segments of a stream.
TEST(LastingTest, IsWhatReachesTheFirstSampleAndTheNewestSignal) {
  const auto lasting = sigmf::LastingTo(
      1000, std::vector<Annotation>{
                {.sample_start = 10, .label = "signal", .comment = "frequency=1 gain=5"},
                {.sample_start = 20, .label = "signal", .comment = "frequency=2"},
                {.sample_start = 30, .label = "signal", .comment = "frequency=3", .foreign = true},
                {.sample_start = 15, .label = "signal", .comment = "frequency=4"},
                {.sample_start = 500, .sample_count = 500, .label = "ends before"},
                {.sample_start = 990, .sample_count = 30, .label = "lost"},
                {.sample_start = 999, .label = "point"}});
  ASSERT_EQ(lasting.size(), 3u);
  EXPECT_EQ(lasting[0], (Annotation{.sample_start = 1000, .sample_count = 20, .label = "lost"}));
  EXPECT_EQ(lasting[1].comment, "frequency=1 gain=5") << "nothing newer tells the gain";
  EXPECT_EQ(lasting[2].comment, "frequency=2");
}

// The stream's sample 1000 is the recording's first one.
TEST_F(ExportTest, TheFrequencyIsThatOfTheFirstSample) {
  feed_.sample_bytes = 4;
  signals_ = {{.sample_start = 4000, .label = "signal", .comment = "frequency=434500000"},
              {.sample_start = 900, .label = "signal", .comment = "frequency=433920000 gain=3"}};
  const auto frequency_of = [&](const std::string& format, uint64_t first) -> std::string {
    const auto exported = Run(format, {.first = first, .count = 500});
    if (absl::IsUnimplemented(exported.status())) return "no library";
    if (!exported.ok()) return exported.status().ToString();
    const auto reader = Open(format, *exported);
    if (!reader.ok()) return reader.status().ToString();
    const Content& content = (*reader)->content();
    std::string text = content.annotations.empty() ? "none" : content.annotations[0].comment;
    for (const model::Note& note : exported->notes) {
      absl::StrAppend(&text, "; ", note.code, " ", note.facts.at("frequency"), " from ",
                      note.facts.at("sample"), " on, not in ", note.facts.at("format"));
    }
    Clear();
    return text;
  };
  EXPECT_EQ(frequency_of("sigmf", 0), "frequency=433920000 gain=3");
  EXPECT_EQ(frequency_of("sigmf", 3500), "frequency=434500000 gain=3");
  for (const std::string format : {"wav", "hdf5"}) {
    const std::string before = frequency_of(format, 2999);
    if (before == "no library") continue;
    EXPECT_EQ(before,
              "frequency=433920000; FREQUENCY_CHANGES 434500000 from 1 on, not in " + format);
    EXPECT_EQ(frequency_of(format, 100), "frequency=433920000");
    EXPECT_EQ(frequency_of(format, 3000), "frequency=434500000");
    EXPECT_EQ(frequency_of(format, 3500), "frequency=434500000");
  }
}

// Spectra come in again as spectra, where the format has a word for it.
TEST_F(ExportTest, AnExportTellsWhatMadeItsSamples) {
  transforms_ = {{.name = "fft", .parameters = {{"points", "1024"}, {"window", "hann"}}},
                 {.name = "convert", .parameters = {{"from", "cf32_le"}, {"to", "ci16_le"}}}};
  const auto read_again = [&](const std::string& format, std::string file) {
    if (format == "sigmf") file.replace(file.size() - 4, 4, "meta");
    return FormatNamed(format, Use::kImport)->read(file, {});
  };
  for (const std::string format : {"sigmf", "hdf5", "wav"}) {
    const auto exported = Run(format);
    if (absl::IsUnimplemented(exported.status())) continue;
    ASSERT_TRUE(exported.ok()) << exported.status();
    const auto reader = read_again(format, exported->file);
    ASSERT_TRUE(reader.ok()) << reader.status();
    const Content& content = (*reader)->content();
    if (format == "wav") {
      EXPECT_THAT(exported->notes, ElementsAre(Noted("SPECTRA_UNTOLD|format=wav")));
      EXPECT_THAT(content.transforms, ElementsAre());
    } else {
      EXPECT_THAT(exported->notes, ElementsAre());
      EXPECT_EQ(content.transforms, transforms_) << format;
    }
    std::filesystem::remove(path_);
  }
}

TEST_F(ExportTest, TransformsThatAreNoneAreNamedAndLeftOut) {
  transforms_ = {{.name = "fft"}};
  ASSERT_TRUE(Run("sigmf").ok());
  json meta = json::parse(ReadFile(path_ + ".sigmf-meta"));
  const json fft = {{"name", "fft"}};
  const json text = {{"name", "fft"}, {"parameters", {{"points", std::string(9000, '4')}}}};
  for (const json& wrong : {json(7), json::array({json::object()}), json::array({{{"name", ""}}}),
                            json::array({{{"name", "fft"}, {"parameters", {{"points", 5}}}}}),
                            json::array({{{"name", "fft"}, {"parameters", {{"\n", "5"}}}}}),
                            json(std::vector<json>(33, fft)), json::array({text})}) {
    meta["global"]["tapedeck:origin"]["transforms"] = wrong;
    WriteFile(path_ + ".sigmf-meta", meta.dump());
    const auto reader = FormatNamed("sigmf", Use::kImport)->read(path_ + ".sigmf-meta", {});
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_THAT((*reader)->content().transforms, ElementsAre());
    EXPECT_THAT((*reader)->content().notes, testing::Contains(Noted("TRANSFORMS_UNREAD")));
  }
}

TEST_F(ExportTest, ABrokenOneGoesOnWhereItWas) {
  feed_.fails_at = 3;
  const absl::Status broken = Run("sigmf").status();
  EXPECT_EQ(ReasonIn(broken), "PEER_LOST");
  EXPECT_EQ(broken.message(),
            "the node has gone; the partial file stays, and --resume continues it");
  EXPECT_THAT(Left(), ElementsAre("file.sigmf-data.export", "file.sigmf-data.export.json"));
  feed_.fails_at = UINT64_MAX;
  EXPECT_EQ(ReasonIn(Run("sigmf").status()), "FILE_EXISTS");
  resume_ = true;
  EXPECT_EQ(ReasonIn(Run("sigmf", {.first = 1}).status()), "FILE_EXISTS") << "another export";
  const auto exported = Run("sigmf");
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_EQ(exported->resumed_at, 3 * kBlockBytes / 4);
  EXPECT_EQ(ReadFile(path_ + ".sigmf-data"), feed_.samples);
  EXPECT_THAT(Left(), ElementsAre("file.sigmf-data", "file.sigmf-meta"));
  const json meta = json::parse(ReadFile(path_ + ".sigmf-meta"));
  EXPECT_EQ(meta["captures"].size(), 1u);
}

TEST_F(ExportTest, WhatCameBehindTheMarkIsWrittenAgain) {
  feed_.fails_at = 3;
  EXPECT_FALSE(Run("raw").ok());
  WriteFile(path_ + ".export", ReadFile(path_ + ".export") + "torn");
  feed_.fails_at = UINT64_MAX;
  resume_ = true;
  ASSERT_TRUE(Run("raw").ok());
  EXPECT_EQ(ReadFile(path_), feed_.samples);
}

TEST_F(ExportTest, ARefusalLeavesWhatCanBeGoneOnWith) {
  feed_.fails_at = 3;
  EXPECT_FALSE(Run("sigmf").ok());
  feed_.fails_at = UINT64_MAX;
  resume_ = true;
  WriteFile(path_ + ".sigmf-meta", "mine");
  EXPECT_EQ(ReasonIn(Run("sigmf").status()), "FILE_EXISTS");
  std::filesystem::remove(path_ + ".sigmf-meta");
  const std::string mark = ReadFile(path_ + ".sigmf-data.export.json");
  WriteFile(path_ + ".sigmf-data.export.json", std::string(1 << 20, '['));
  EXPECT_EQ(ReasonIn(Run("sigmf").status()), "FILE_INVALID");
  WriteFile(path_ + ".sigmf-data.export.json", mark);
  ASSERT_TRUE(Run("sigmf").ok());
  EXPECT_EQ(ReadFile(path_ + ".sigmf-data"), feed_.samples);
}

TEST_F(ExportTest, OneThatFailsAtItsBeginLeavesNothing) {
  feed_.fails_at = 0;
  EXPECT_EQ(ReasonIn(Run("raw").status()), "PEER_LOST");
  EXPECT_TRUE(Left().empty());
}

TEST(ExportMarkTest, ComesBackAsItWas) {
  const ExportMark mark{.key = {.uid = "u", .format = "raw", .first_sample = 5, .bytes = 100},
                        .offset = 50,
                        .file_bytes = 94,
                        .seen = {.runs = {{1, 2}}, .gaps = {{4, 5}}}};
  const auto read = DecodeMark("m", EncodeMark(mark));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->key, mark.key);
  EXPECT_EQ(read->offset, 50u);
  EXPECT_EQ(read->file_bytes, 94u);
  EXPECT_EQ(read->seen.runs[0].sample_index, 2u);
  EXPECT_THAT(read->seen.gaps, ElementsAre(SampleRange{4, 5}));
}

TEST(ExportMarkTest, WhatIsNoneIsRefused) {
  const std::string good = EncodeMark({.key = {.uid = "u", .format = "raw", .bytes = 9}});
  ASSERT_TRUE(DecodeMark("m", good).ok());
  for (size_t bytes = 0; bytes + 1 < good.size(); ++bytes) {
    EXPECT_EQ(ReasonIn(DecodeMark("m", good.substr(0, bytes)).status()), "FILE_INVALID") << bytes;
  }
  for (const char* name : {"kind", "version", "uid", "bytes", "offset", "gaps"}) {
    json object = json::parse(good);
    object[name] = -1;
    EXPECT_EQ(ReasonIn(DecodeMark("m", object.dump()).status()), "FILE_INVALID") << name;
  }
}

}  // namespace
}  // namespace tapedeck::services::formats
