// Archives of SigMF as tools in the field write them: each row says what is right for one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "services/formats/sigmf/sigmf.h"
#include "tests/services/formats/generated.h"
#include "tests/services/formats/ramp.h"
#include "tests/services/noted.h"
#include "tests/shared_data.h"

namespace tapedeck::services::formats {
namespace {

using testing::HasSubstr;

constexpr uint64_t kMadeSamples = 1000;

struct ArchiveRow {
  const char* name;
  std::vector<const char*> words = {};  // of each note; of the refusal
  uint64_t samples = kMadeSamples;
  const char* member = "";
};

const ArchiveRow kReadArchives[] = {
    {"folder_first"},
    {"ustar"},
    {"pax_global"},
    {"pax_keys"},
    {"v7"},
    {"absolute"},
    {"upwards"},
    {"dot_slash"},
    {"unicode"},
    {"latin1"},
    {"deep"},
    {"finder", {"LEFT_OUT|what=files|count=3|names~.DS_Store, a/._a.sigmf-meta, __MACOSX/a"}},
    {"links",
     {"LEFT_OUT|what=halves|names=b.sigmf-meta", "LEFT_OUT|what=files|count=2|names~b.sigmf-"}},
    {"device", {"LEFT_OUT|what=files|names=tty"}},
    {"two_of_one_name", {}, kMadeSamples, "y/a"},
    {"collection", {"LEFT_OUT|what=files|names=c.sigmf-collection"}},
    {"own_dataset"},
    {"two_after_each_other", {"BYTES_BEHIND"}},
    {"no_end"},
    {"cut_in_the_samples", {"FILE_CUT|bytes=2000"}, 500},
};

const ArchiveRow kRefusedArchives[] = {
    {"data_is_a_link", {"only a.sigmf-meta"}},
    {"data_is_a_folder", {"only a.sigmf-meta"}},
    {"two_of_one_name", {"--member takes one of these: x/a, y/a"}},
    {"two_of_one_name", {"more than one", "--member takes one of these: x/a, y/a"}, 0, "a"},
    {"meta_alone", {"only a.sigmf-meta"}},
    {"metadata_only", {"global.core:metadata_only: there are no samples"}},
    {"other_dataset", {"global.core:dataset: \"a.wav\"", "a.sigmf-data"}},
    {"no_data", {"there are no samples"}},
    {"long_meta", {"a.sigmf-meta in it has more than 16777216 bytes"}},
    {"cut_in_the_header", {"is not a whole tar archive"}},
    {"cut_in_the_meta", {"only a/a.sigmf-meta; the archive ends within its last file"}},
    {"empty", {"is not a whole tar archive"}},
    {"zeros", {"has no .sigmf-meta and .sigmf-data"}},
    {"gz", {"is compressed by gzip: unpack it first"}},
    {"xz", {"is compressed by xz: unpack it first"}},
    {"bz2", {"is compressed by bzip2: unpack it first"}},
    {"zst", {"is compressed by zstd: unpack it first"}},
    {"zip", {"is compressed by zip: unpack it first"}},
};

class ArchivesFieldTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = ScratchPath("archives");
    Generate("archives.py", folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<std::unique_ptr<Reader>> Open(const ArchiveRow& row) const {
    return OpenSigmf(absl::StrCat(folder_, "/", row.name, ".sigmf"), {.member = row.member});
  }

  std::string folder_;
};

TEST_F(ArchivesFieldTest, IsRead) {
  for (const ArchiveRow& row : kReadArchives) {
    SCOPED_TRACE(row.name);
    const auto reader = Open(row);
    ExpectRamp(reader, row.samples);
    if (!reader.ok()) continue;
    EXPECT_THAT((*reader)->content().notes,
                testing::UnorderedElementsAreArray(NotedEach(row.words)));
  }
}

TEST_F(ArchivesFieldTest, IsRefusedWithTheReason) {
  for (const ArchiveRow& row : kRefusedArchives) {
    const std::string refusal = RefusalOf(Open(row));
    for (const char* words : row.words) EXPECT_THAT(refusal, HasSubstr(words)) << row.name;
  }
}

// In every header: what is whole before the cut is read, or the file is refused by its name.
TEST_F(ArchivesFieldTest, EachCutIsReadOrNamed) {
  const std::string path = folder_ + "/part.sigmf";
  for (const char* name : {"pax_global", "pax_keys", "folder_first"}) {
    WriteFile(path, ReadFile(absl::StrCat(folder_, "/", name, ".sigmf")));
    for (size_t bytes = 4096; bytes > 7; bytes -= 7) {
      std::filesystem::resize_file(path, bytes);
      const auto reader = OpenSigmf(path);
      if (reader.ok()) {
        ASSERT_TRUE(Ramp(kMadeSamples).starts_with(*ReadAll(**reader))) << name << ' ' << bytes;
        ASSERT_FALSE((*reader)->content().notes.empty()) << name << ' ' << bytes;
      } else {
        ASSERT_THAT(RefusalOf(reader), HasSubstr(path)) << name << ' ' << bytes;
      }
    }
  }
}

// GNU tar writes a map and nothing else of it.
TEST(ArchiveHoleTest, AFileThatIsOneHoleIsRefused) {
  const std::string sparse = ScratchPath("hole.sigmf-data");
  WriteFile(sparse, "");
  std::filesystem::resize_file(sparse, 1 << 20);
  const std::string path = ScratchPath("hole.sigmf");
  for (const char* format : {"pax", "gnu"}) {
    const std::string command =
        absl::StrCat("tar -S --format=", format, " -C / -cf ", path, " ", sparse.substr(1));
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_THAT(RefusalOf(OpenSigmf(path)), HasSubstr("GNU.sparse")) << format;
  }
}

}  // namespace
}  // namespace tapedeck::services::formats
