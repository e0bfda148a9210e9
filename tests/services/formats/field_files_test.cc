// Files as programs in the field write them, or leave them: each gives exactly what its table
// says, by the line: samples, rate, start, frequency and notes, or the refusal. The samples are
// those that the generator wrote beside the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "services/formats/hdf5/hdf5.h"
#include "services/formats/wav/wav.h"
#include "tests/services/formats/generated.h"
#include "tests/services/formats/outcome.h"
#include "tests/shared_data.h"

namespace tapedeck::services::formats {
namespace {

class FieldFilesTest : public testing::Test {
 protected:
  ~FieldFilesTest() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  std::string Input(const std::string& name) const { return folder_ + "/" + name; }

  // Makes the files of a generator.
  void Generate(const std::string& generator, const std::string& modules) {
    if (std::system(("/usr/bin/python3 -c 'import " + modules + "' 2>/dev/null").c_str()) != 0) {
      GTEST_SKIP() << "/usr/bin/python3 has no " << modules;
    }
    folder_ = ScratchPath("field");
    formats::Generate(generator, folder_);
  }

  // Reads each file of the table, and none is left out: NAME or NAME DATASET, a tab, and what must
  // come of it, up to "...".
  template <typename Open>
  void ExpectTable(const std::string& table, const std::string& ending, Open open) {
    std::set<std::string> named;
    const std::string text = ReadFile(TreeFile("tests/services/formats/" + table));
    for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      if (line[0] == '#') continue;
      const std::pair<std::string, std::string> parts = absl::StrSplit(line, '\t');
      const std::pair<std::string, std::string> input = absl::StrSplit(parts.first, ' ');
      const std::string path = Input(input.first + ending);
      named.insert(path);
      SCOPED_TRACE(parts.first);
      const std::string outcome = OutcomeOf(open(path, ReadOptions{.dataset = input.second}), path,
                                            ReadFile(Input(input.first + ".raw")));
      absl::string_view expected = parts.second;
      if (absl::ConsumeSuffix(&expected, "...")) {
        EXPECT_TRUE(absl::StartsWith(outcome, expected) && outcome.size() > expected.size())
            << outcome;
      } else {
        EXPECT_EQ(outcome, expected);
      }
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      if (entry.path().extension() != ending) continue;
      EXPECT_TRUE(named.contains(entry.path())) << entry.path() << " is in no line of " << table;
    }
    EXPECT_GT(named.size(), 30u);
  }

 private:
  std::string folder_;
};

TEST_F(FieldFilesTest, Wav) {
  Generate("wav_field_files.py", "struct");
  if (IsSkipped() || HasFatalFailure()) return;
  ExpectTable("wav_field.txt", ".wav", OpenWav);
  for (const char* name : {"hdsdr", "ffmpeg_float", "rf64_sizes", "w64"}) {
    SCOPED_TRACE(name);
    const std::string file = ReadFile(Input(std::string(name) + ".wav"));
    const size_t head = name == std::string("w64") ? 24 : 8;
    ExpectEachCutIsNamed(file, file.find("data") + head, "wav", ScratchPath("cut.wav"));
  }
}

TEST_F(FieldFilesTest, Hdf5) {
  if (absl::IsUnimplemented(OpenHdf5("none").status())) GTEST_SKIP() << "built without HDF5";
  Generate("hdf5_field_files.py", "h5py");
  if (IsSkipped() || HasFatalFailure()) return;
  ExpectTable("hdf5_field.txt", ".h5", OpenHdf5);
}

}  // namespace
}  // namespace tapedeck::services::formats
