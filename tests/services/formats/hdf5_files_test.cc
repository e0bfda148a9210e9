// HDF5 files as h5py writes them: other shapes, groups, names, and filters that are not here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "services/formats/hdf5/hdf5.h"
#include "tests/services/formats/feed.h"
#include "tests/services/formats/generated.h"
#include "tests/shared_data.h"

namespace tapedeck::services::formats {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int kHdf5Samples = 1000;

void AppendLittle(int number, std::string* text) {
  text->push_back(static_cast<char>(number));
  text->push_back(static_cast<char>(number >> 8));
}

// Sample k is k, and -k as its imaginary part.
std::string Counting(bool complex) {
  std::string text;
  for (int k = 0; k < kHdf5Samples; ++k) {
    AppendLittle(k, &text);
    if (complex) AppendLittle(-k, &text);
  }
  return text;
}

class Hdf5FilesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (absl::IsUnimplemented(OpenHdf5("none").status())) GTEST_SKIP() << "built without HDF5";
    if (std::system("/usr/bin/python3 -c 'import h5py' 2>/dev/null") != 0) {
      GTEST_SKIP() << "/usr/bin/python3 has no h5py (python3-h5py)";
    }
    folder_ = ScratchPath("h5");
    Generate("hdf5_files.py", folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<std::unique_ptr<Reader>> Open(const std::string& name,
                                               const std::string& dataset = "") const {
    return OpenHdf5(folder_ + "/" + name + ".h5", {.dataset = dataset});
  }
  std::string RefusalOf(const std::string& name, const std::string& dataset = "") const {
    const absl::Status status = Open(name, dataset).status();
    EXPECT_EQ(ReasonIn(status), "FILE_INVALID");
    return std::string(status.message());
  }

 private:
  std::string folder_;
};

TEST_F(Hdf5FilesTest, EachHasAllItsSamples) {
  for (const char* name : {"column", "row", "group", "names", "other_names", "padded", "swapped"}) {
    SCOPED_TRACE(name);
    const auto reader = Open(name);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->content().datatype, "ci16_le");
    EXPECT_TRUE(*ReadAll(**reader) == Counting(true));
    std::string part(400, '\0');
    ASSERT_TRUE((*reader)->Read(1200, std::as_writable_bytes(std::span(part))).ok());
    EXPECT_TRUE(part == Counting(true).substr(1200, 400));
  }
  const auto loop = Open("loop");
  ASSERT_TRUE(loop.ok()) << loop.status();
  EXPECT_TRUE(*ReadAll(**loop) == Counting(false));
}

TEST_F(Hdf5FilesTest, OfSeveralNoneIsGuessed) {
  EXPECT_THAT(RefusalOf("two"),
              AllOf(HasSubstr("more than one"), HasSubstr("/a (1000, ci16_le), /rx/b (")));
  EXPECT_THAT(RefusalOf("two", "/rx/c"), HasSubstr("/a (1000, ci16_le), /rx/b (1000, ri16_le)"));
  for (const char* name : {"/a", "a"}) {
    const auto reader = Open("two", name);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_TRUE(*ReadAll(**reader) == Counting(true));
  }
  EXPECT_EQ((*Open("two", "/rx/b"))->content().datatype, "ri16_le");
  EXPECT_THAT(RefusalOf("matrix"), HasSubstr("no dataset of one dimension"));
}

TEST_F(Hdf5FilesTest, AMissingFilterIsToldAtOnce) {
  EXPECT_THAT(RefusalOf("filter"), HasSubstr("compressed by filter 511 \""));
}

}  // namespace
}  // namespace tapedeck::services::formats
