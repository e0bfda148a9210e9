// The page of a storage node: what it says of LUNs, and that it does not grow with what they hold.
#include "storage_node/node/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/executor/waiting.h"
#include "tests/storage_node/damage.h"
#include "tests/storage_node/node_contents.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node::node {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class MetricsTest : public ::testing::Test {
 protected:
  // As the admin port's thread makes it, which must not wait.
  static std::string PageOf(NodeFixture& fixture) {
    const dataplane::NoWaiting no_waiting;
    services::telemetry::Page page;
    fixture.node().AddMetrics(page);
    return page.Text();
  }
  static std::string Sample(const std::string& name, uint64_t value) {
    return absl::StrCat("\n", name, "{lun=\"l\"} ", value, "\n");
  }
};

TEST_F(MetricsTest, CountsWhatIsWritten) {
  NodeFixture fixture;
  fixture.RecordAndSeal(5);
  fixture.RecordAndSeal(3);
  const std::string page = PageOf(fixture);
  EXPECT_THAT(
      page,
      AllOf(HasSubstr(Sample("tapedeck_lun_online", 1)),
            HasSubstr(Sample("tapedeck_lun_recordings", 2)),
            HasSubstr(Sample("tapedeck_lun_recordings_open", 0)),
            HasSubstr(Sample("tapedeck_lun_written_blocks_total", 8)),
            HasSubstr(Sample("tapedeck_lun_written_bytes_total", 8 * kBlockBytes)),
            HasSubstr(Sample("tapedeck_lun_used_bytes", Takes("posix", 5) + Takes("posix", 3))),
            HasSubstr(Sample("tapedeck_lun_watermark_age_seconds", 0)),
            Not(HasSubstr(Sample("tapedeck_lun_commit_latency_seconds_count", 0)))));
  EXPECT_THAT(page, HasSubstr("tapedeck_page_samples_left_out 0\n"));
  // What closes a recording in the catalog ends by itself.
  EXPECT_TRUE(fixture.executor().RunUntil(
      [&] { return absl::StrContains(PageOf(fixture), Sample("tapedeck_lun_tasks_waiting", 0)); }));
}

// Closing it waits for its disks.
TEST_F(MetricsTest, WhoShowsALunIsNeverTheOneWhoClosesIt) {
  TempDir dir;
  const auto contents = MakeNodeContents(dir.path());
  auto lun = std::make_shared<luns::OpenLun>(luns::OpenLun{
      .config = services::Lun{.name = "luns/l"}, .kind = *store::FindStoreKind("posix")});
  const auto gone = lun->gone.said();
  contents->luns.Insert("l", std::move(lun));
  const auto figures = contents->luns.Figures();
  ASSERT_EQ(figures.size(), 1u);
  contents->luns.Erase("l");
  EXPECT_TRUE(gone->HasBeenNotified());
}

TEST_F(MetricsTest, AThousandRecordingsAddNoLine) {
  NodeFixture fixture("memory", 0, 128 << 20);
  fixture.RecordAndSeal(1);
  const std::string before = PageOf(fixture);
  for (int i = 1; i < 1000; ++i) fixture.RecordAndSeal(1);
  const std::string after = PageOf(fixture);
  EXPECT_THAT(after, HasSubstr(Sample("tapedeck_lun_recordings", 1000)));
  EXPECT_EQ(std::ranges::count(after, '\n'), std::ranges::count(before, '\n'));
  EXPECT_THAT(after, HasSubstr("tapedeck_page_samples_left_out 0\n"));
}

TEST_F(MetricsTest, CountsOverRestartsAndDeletions) {
  NodeFixture fixture;
  const std::string first = fixture.RecordAndSeal(1);
  fixture.RecordAndSeal(1);
  fixture.Restart({});
  EXPECT_THAT(PageOf(fixture), HasSubstr(Sample("tapedeck_lun_recordings", 2)));
  ASSERT_TRUE(fixture.node().recordings().DeleteRecording(first).ok());
  EXPECT_THAT(PageOf(fixture), HasSubstr(Sample("tapedeck_lun_recordings", 1)));
}

TEST_F(MetricsTest, ARecordingUnderWay) {
  NodeFixture fixture;
  auto recorder = fixture.Record();
  ASSERT_TRUE(recorder.ok());
  ASSERT_TRUE(recorder->Push(0).ok());
  EXPECT_THAT(PageOf(fixture), HasSubstr(Sample("tapedeck_lun_recordings_open", 1)));
  ASSERT_TRUE(recorder->Finish().ok());
}

TEST_F(MetricsTest, AThousandRecordingsDoNotGrowThePage) {
  NodeFixture fixture("memory", 1, 1 << 20);
  const auto lines = [&] { return std::ranges::count(PageOf(fixture), '\n'); };
  const auto record = [&] {
    const std::string name = fixture.RecordAndSeal(1);
    ASSERT_TRUE(fixture.node().recordings().DeleteRecording(name).ok());
  };
  record();
  const auto before = lines();
  for (int i = 0; i < 1000; ++i) record();
  EXPECT_EQ(lines(), before);
  EXPECT_THAT(PageOf(fixture), HasSubstr(Sample("tapedeck_lun_written_blocks_total", 1001)));
}

TEST_F(MetricsTest, DamageByWhoFoundIt) {
  NodeFixture fixture;
  const std::string recording = fixture.RecordAndSeal(4);
  FlipBit(fixture.Directory(recording) + "/data", 2 * kBlockBytes + 5);
  fixture.PlayAll(recording);
  ASSERT_TRUE(fixture.node().scrubs().StartScrub({.parent = "luns/l"}).ok());
  fixture.EndScrub("luns/l");
  const std::string damaged = "tapedeck_lun_damaged_blocks_total{lun=\"l\",found_by=";
  EXPECT_THAT(PageOf(fixture),
              AllOf(HasSubstr(damaged + "\"scrub\"} 1\n"), HasSubstr(damaged + "\"playback\"} 1\n"),
                    HasSubstr(Sample("tapedeck_lun_scrubbed_blocks_total", 4)),
                    HasSubstr("tapedeck_scrubs_running 0\n")));
}

TEST_F(MetricsTest, ALunThatIsOffline) {
  NodeFixture fixture;
  fixture.RecordAndSeal(1);
  fixture.Stop();
  std::filesystem::rename(fixture.dir().path() + "/m0", fixture.dir().path() + "/away");
  fixture.Restart({});
  EXPECT_THAT(PageOf(fixture), AllOf(HasSubstr(Sample("tapedeck_lun_online", 0)),
                                     HasSubstr(Sample("tapedeck_lun_recordings", 1)),
                                     Not(HasSubstr("tapedeck_lun_used_bytes"))));
}

}  // namespace
}  // namespace tapedeck::storage_node::node
