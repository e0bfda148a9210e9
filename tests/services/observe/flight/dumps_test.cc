#include "services/observe/flight/dumps.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/time/clock.h"
#include "dataplane/clock.h"
#include "services/observe/flight/dump_file.h"
#include "services/rpc/convert/codecs.h"

namespace tapedeck::services::flight {
namespace {

namespace fs = std::filesystem;
using dataplane::flight::Kind;

class DumpsTest : public ::testing::Test {
 protected:
  DumpsTest() {
    std::string name = (fs::temp_directory_path() / "dumps.XXXXXX").string();
    root_ = mkdtemp(name.data());
    Start();
  }
  ~DumpsTest() override { fs::remove_all(root_); }

  void Start() {
    auto dumps = Dumps::Create({.directory = root_ / "flight",
                                .node = "host/storage",
                                .role = NodeRole::kStorage,
                                .codec = convert::TraceMessages()},
                               rings_);
    ASSERT_TRUE(dumps.ok()) << dumps.status();
    dumps_ = *std::move(dumps);
  }

  // Waits for all that was asked for.
  void Finish() {
    dumps_ = nullptr;
    Start();
  }

  void Put(uint32_t trail, size_t stamps) {
    const int64_t now_ns = dataplane::SystemClock().NowNs();
    for (size_t i = 0; i < stamps; ++i) {
      ring_->Put({.time_ns = now_ns, .sequence = i, .trail = trail, .kind = Kind::kArrived});
    }
  }

  fs::path root_;
  dataplane::flight::Rings rings_{2, 32768};
  dataplane::flight::Ring* const ring_ = rings_.Take("session-0");
  std::unique_ptr<Dumps> dumps_;
};

TEST_F(DumpsTest, HasTheSessionsStampsInPages) {
  Put(7, 20'000);
  Put(8, 5);
  const std::string path =
      dumps_->Leave({.id = 7, .session = "s000003"}, absl::UnavailableError("gone"));
  Finish();
  ASSERT_TRUE(fs::exists(path)) << path;
  ASSERT_EQ(dumps_->Names(), std::vector<std::string>{fs::path(path).filename().string()});
  auto page = dumps_->Read(dumps_->Names()[0], "");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->trace.cause, "gone");
  EXPECT_EQ(page->trace.node, "host/storage");
  ASSERT_EQ(page->trace.trails.size(), 1u);
  EXPECT_EQ(page->trace.trails[0].session, "s000003");
  size_t stamps = page->trace.threads[0].entries.size();
  EXPECT_EQ(stamps, kPageEntries);
  page = dumps_->Read(dumps_->Names()[0], page->next_page_token);
  ASSERT_TRUE(page.ok()) << page.status();
  stamps += page->trace.threads[0].entries.size();
  EXPECT_EQ(stamps, 20'000u);
  EXPECT_EQ(page->next_page_token, "");
}

TEST_F(DumpsTest, OnlyTheNewestStayAndNothingOfOthersGoes) {
  fs::create_directories(root_ / "flight");
  // Older than any by their names, and not ours.
  std::ofstream(root_ / "flight" / "00000000T000000-notes.flight") << "my own notes";
  std::ofstream(root_ / "flight" / "readme") << "text";
  ASSERT_TRUE(WriteDumpFile(root_ / "target", {"part"}).ok());
  fs::create_symlink(root_ / "target", root_ / "flight" / "00000000T000001-link.flight");
  Put(7, 3);
  std::vector<std::string> left;
  for (size_t i = 0; i < kMaxDumps + 4; ++i) {
    left.push_back(dumps_->Leave({.id = 7, .session = std::to_string(i)}, absl::OkStatus()));
    Finish();
  }
  EXPECT_FALSE(fs::exists(left[0]));
  EXPECT_TRUE(fs::exists(left.back()));
  EXPECT_LE(dumps_->Names().size(), kMaxDumps + 2);
  EXPECT_TRUE(fs::exists(root_ / "flight" / "00000000T000000-notes.flight"));
  EXPECT_TRUE(fs::is_symlink(root_ / "flight" / "00000000T000001-link.flight"));
  EXPECT_TRUE(fs::exists(root_ / "target"));
  EXPECT_TRUE(fs::exists(root_ / "flight" / "readme"));
}

TEST_F(DumpsTest, SessionsThatFailAgainAndAgainLeaveFew) {
  Put(7, 3);
  size_t left = 0;
  for (int i = 0; i < 50; ++i) {
    const bool leaves =
        !dumps_->Leave({.id = 7, .session = std::to_string(i)}, absl::UnavailableError("gone"))
             .empty();
    left += leaves;
    // Written, so that none of those below is refused for want of room.
    for (int look = 0; leaves && look < 1000 && dumps_->Names().size() < left; ++look) {
      absl::SleepFor(absl::Milliseconds(5));
    }
  }
  EXPECT_EQ(left, kMaxDumpsWaiting);
}

TEST_F(DumpsTest, ReadsNothingButDumps) {
  fs::create_directories(root_ / "flight");
  std::ofstream(root_ / "flight" / "other.flight") << "TDFLIGH";
  std::ofstream(root_ / "flight" / "torn.flight") << "TDFLIGHT" << std::string("\x40\0\0\0half", 8);
  std::ofstream(root_ / "flight" / "huge.flight")
      << "TDFLIGHT" << std::string("\xff\xff\xff\xff", 4);
  mkfifo((root_ / "flight" / "pipe.flight").c_str(), 0600);
  EXPECT_TRUE(absl::IsInvalidArgument(dumps_->Read("../flight/other.flight", "").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(dumps_->Read("catalog.sqlite", "").status()));
  EXPECT_TRUE(absl::IsNotFound(dumps_->Read("none.flight", "").status()));
  for (const char* name : {"other.flight", "torn.flight", "huge.flight", "pipe.flight"}) {
    EXPECT_TRUE(absl::IsDataLoss(dumps_->Read(name, "").status())) << name;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(dumps_->Read("torn.flight", "x").status()));
}

}  // namespace
}  // namespace tapedeck::services::flight
