// Archives of SigMF as tar, macOS and Python make them.
#include "services/formats/sigmf/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "services/formats/sigmf/sigmf.h"
#include "services/formats/sigmf/tar.h"
#include "tests/services/formats/ramp.h"
#include "tests/services/noted.h"

namespace tapedeck::services::formats {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kArchivedSamples = 1000;
constexpr char kMeta[] =
    R"({"global":{"core:datatype":"ci16_le","core:sample_rate":1e6,"core:version":"1.0.0"},)"
    R"("captures":[{"core:sample_start":0}],"annotations":[]})";

std::string Entry(const std::string& name, const std::string& bytes) {
  return TarHeader({"rec", name, bytes.size()}) + bytes +
         std::string(TarPadding(bytes.size()), '\0');
}

std::string Pair(const std::string& name) {
  return Entry(name + ".sigmf-meta", kMeta) + Entry(name + ".sigmf-data", Ramp(kArchivedSamples));
}

const std::string kEnd(kTarEndBytes, '\0');

absl::StatusOr<std::unique_ptr<Reader>> OpenTar(const std::string& archive,
                                                const std::string& member = "") {
  const std::string path = ScratchPath("a.sigmf");
  WriteFile(path, archive);
  return OpenSigmf(path, {.member = member});
}

// All samples, and these notes.
template <typename Notes>
void ExpectInTar(const absl::StatusOr<std::unique_ptr<Reader>>& reader, const Notes& notes) {
  ExpectRamp(reader, kArchivedSamples);
  if (!reader.ok()) return;
  EXPECT_THAT((*reader)->content().notes, notes);
}

TEST(ArchiveTest, AnyOrderAndNoEnd) {
  const std::string pair = Pair("a");
  const size_t meta = kTarBlockBytes * 2;
  ExpectInTar(OpenTar(pair + kEnd), IsEmpty());
  ExpectInTar(OpenTar(pair.substr(meta) + pair.substr(0, meta) + kEnd), IsEmpty());
  ExpectInTar(OpenTar(pair), IsEmpty());
  ExpectInTar(OpenTar(pair.substr(0, pair.size() - 10)), IsEmpty());
}

TEST(ArchiveTest, WhatElseIsInItIsLeftOutByName) {
  ExpectInTar(OpenTar(Entry("._a.sigmf-meta", "mac") + Entry("README.md", "hi") + Pair("a") +
                      Entry("._a.sigmf-data", "mac") + Entry("c.sigmf-collection", "{}") + kEnd),
              ElementsAre(Noted("LEFT_OUT|what=files|count=4|names~rec/README.md")));
  ExpectInTar(OpenTar(Pair("a") + Entry("b.sigmf-data", "xx") + kEnd),
              ElementsAre(Noted("LEFT_OUT|what=halves|names=rec/b.sigmf-data")));
}

TEST(ArchiveTest, LongNamesOfEveryKind) {
  const std::filesystem::path folder = ScratchPath("long");
  const std::string name(80, 'n');
  const std::filesystem::path inner = folder / name / "\xc3\xa4ther";
  std::filesystem::create_directories(inner);
  WriteFile(inner / (name + ".sigmf-meta"), kMeta);
  WriteFile(inner / (name + ".sigmf-data"), Ramp(kArchivedSamples));
  const std::string path = ScratchPath("long.sigmf");
  for (const char* format : {"pax", "gnu", "ustar"}) {
    const std::string command = "tar --format=" + std::string(format) + " -C " + folder.string() +
                                " -cf " + path + " " + name;
    ASSERT_EQ(std::system(command.c_str()), 0);
    SCOPED_TRACE(format);
    ExpectInTar(OpenSigmf(path), IsEmpty());
    ExpectInTar(OpenSigmf(path, {.member = name}), IsEmpty());
  }
  std::filesystem::remove_all(folder);
}

TEST(ArchiveTest, OneOfTwoIsChosenByName) {
  const std::string two = Pair("a") + Pair("b") + kEnd;
  EXPECT_THAT(RefusalOf(OpenTar(two)),
              AllOf(HasSubstr("more than one"), HasSubstr("rec/a, rec/b")));
  EXPECT_THAT(RefusalOf(OpenTar(two, "c")), HasSubstr("rec/a, rec/b"));
  ExpectInTar(OpenTar(two, "b"), IsEmpty());
  ExpectInTar(OpenTar(two, "rec/a"), IsEmpty());
  EXPECT_THAT(RefusalOf(OpenTar(Entry("a.sigmf-meta", kMeta) + Entry("b.sigmf-data", "xx") + kEnd)),
              HasSubstr("only rec/a.sigmf-meta, rec/b.sigmf-data"));
  EXPECT_THAT(RefusalOf(OpenTar(Pair("a") + Pair("a") + kEnd)),
              HasSubstr("rec/a.sigmf-meta twice"));
}

TEST(ArchiveTest, ACutInTheSamplesLeavesThoseBefore) {
  const std::string pair = Pair("a");
  const auto reader = OpenTar(pair.substr(0, kTarBlockBytes * 3 + 2000));
  ExpectRamp(reader, 500);
  EXPECT_THAT((*reader)->content().notes, testing::Contains(Noted("FILE_CUT|bytes=2000")));
  EXPECT_THAT(RefusalOf(OpenTar(pair.substr(0, kTarBlockBytes * 2 + 100))), HasSubstr("Truncated"));
}

TEST(ArchiveTest, BoundsAreNamed) {
  std::string many;
  for (int i = 0; i <= 1024; ++i) many += Entry(absl::StrCat(i), "");
  EXPECT_THAT(RefusalOf(OpenTar(many + kEnd)), HasSubstr("more than 1024 entries"));
  EXPECT_THAT(RefusalOf(OpenTar("\x1f\x8b\x08" + std::string(600, 'z'))),
              HasSubstr("is compressed by gzip"));
}

TEST(ArchiveTest, ASizeBeyondAHeadersIsInOneBefore) {
  const std::string path = ScratchPath("large.sigmf");
  const uint64_t bytes = uint64_t{1} << 40;
  const std::string header = TarHeader({"folder", "name.sigmf-data", bytes});
  EXPECT_EQ(header.size(), 3 * kTarBlockBytes);
  const std::string meta = Entry("name.sigmf-meta", kMeta);
  WriteFile(path, TarHeader({"folder", "name.sigmf-meta", sizeof(kMeta) - 1}) +
                      meta.substr(kTarBlockBytes) + header);
  std::filesystem::resize_file(path, meta.size() + header.size() + bytes);
  const auto file = files::OpenInput(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto archive = ReadArchive(*file);
  std::filesystem::remove(path);
  ASSERT_TRUE(archive.ok()) << archive.status();
  ASSERT_EQ(archive->recordings.size(), 1u);
  EXPECT_EQ(archive->recordings[0].name, "folder/name");
  EXPECT_EQ(archive->recordings[0].data.bytes, bytes);
  EXPECT_EQ(archive->recordings[0].data.in_archive.begin, meta.size() + header.size());
}

// Its bytes there are a map of its holes, and what lies between them.
TEST(ArchiveTest, ASparseFileIsRefusedByName) {
  const std::string sparse = ScratchPath("sparse.sigmf-data");
  WriteFile(sparse, "begin");
  std::filesystem::resize_file(sparse, 400'000);
  const std::string path = ScratchPath("a.sigmf");
  for (const char* how : {"pax --sparse-version=0.0", "pax --sparse-version=0.1",
                          "pax --sparse-version=1.0", "gnu"}) {
    const std::string command =
        absl::StrCat("tar -S --format=", how, " -C / -cf ", path, " ", sparse.substr(1));
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_THAT(RefusalOf(OpenSigmf(path)), HasSubstr("GNU.sparse")) << how;
  }
}

TEST(ArchiveTest, AHeaderThatIsNoneIsRefused) {
  const std::string good = Pair("a") + kEnd;
  for (size_t at = 0; at < kTarBlockBytes; ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    EXPECT_EQ(ReasonIn(OpenTar(bad).status()), "FILE_INVALID") << at;
  }
}

}  // namespace
}  // namespace tapedeck::services::formats
