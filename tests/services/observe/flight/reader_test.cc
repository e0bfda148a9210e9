#include "services/observe/flight/reader.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "dataplane/clock.h"
#include "services/base/errors.h"
#include "services/rpc/convert/codecs.h"

namespace tapedeck::services::flight {
namespace {

using dataplane::flight::Kind;
using dataplane::flight::Rings;

class ReaderTest : public ::testing::Test {
 protected:
  // `stamps` of a trail, numbered on, all at next_ns_.
  void Put(dataplane::flight::Ring* ring, uint32_t trail, size_t stamps) {
    for (size_t i = 0; i < stamps; ++i) {
      ring->Put({.time_ns = next_ns_, .sequence = i, .trail = trail, .kind = Kind::kMade});
    }
  }

  // Every page of it as one.
  Trace ReadAll(TraceRequest request, size_t* pages) {
    Trace whole;
    *pages = 0;
    do {
      const absl::StatusOr<TracePage> page = reader_.Read(request);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) return whole;
      if (++*pages == 1) whole = page->trace;
      if (*pages > 1) {
        EXPECT_TRUE(page->trace.trails.empty());
        for (const ThreadStamps& thread : page->trace.threads) whole.threads.push_back(thread);
      }
      request.page_token = page->next_page_token;
    } while (!request.page_token.empty());
    return whole;
  }

  static size_t StampsIn(const Trace& trace) {
    size_t stamps = 0;
    for (const ThreadStamps& thread : trace.threads) stamps += thread.entries.size();
    return stamps;
  }

  int64_t next_ns_ = dataplane::SystemClock().NowNs();
  Rings rings_{4, 32768};
  Trails trails_;
  const std::shared_ptr<TrailRecord> first_ = trails_.New({.job = "jobs/1", .recording = "r1"});
  const std::shared_ptr<TrailRecord> second_ = trails_.New({.session = "s2", .recording = "r2"});
  Reader reader_{{"host/worker", NodeRole::kWorker}, trails_, rings_, nullptr};
};

TEST_F(ReaderTest, GivesTheStampsOfWhatIsAskedForAlone) {
  auto* const ring = rings_.Take("rail");
  Put(ring, first_->trail().id(), 10);
  Put(ring, second_->trail().id(), 20);
  Put(rings_.Take("session"), first_->trail().id(), 5);
  size_t pages = 0;
  const Trace job = ReadAll({.job = "jobs/1"}, &pages);
  EXPECT_EQ(pages, 1u);
  EXPECT_EQ(StampsIn(job), 15u);
  ASSERT_EQ(job.trails.size(), 1u);
  EXPECT_EQ(job.trails[0].job, "jobs/1");
  ASSERT_EQ(job.threads.size(), 2u);
  EXPECT_EQ(job.threads[0].thread, "rail");
  EXPECT_EQ(job.threads[1].thread, "session");
  EXPECT_EQ(job.node, "host/worker");
  EXPECT_EQ(StampsIn(ReadAll({.session = "s2"}, &pages)), 20u);
  EXPECT_EQ(StampsIn(ReadAll({.recording = "r2"}, &pages)), 20u);
  EXPECT_EQ(StampsIn(ReadAll({}, &pages)), 35u);
}

TEST_F(ReaderTest, OfWhatItDoesNotKnowThereIsNothing) {
  Put(rings_.Take("rail"), first_->trail().id(), 10);
  size_t pages = 0;
  const Trace none = ReadAll({.session = "s9"}, &pages);
  EXPECT_TRUE(none.trails.empty());
  EXPECT_EQ(StampsIn(none), 0u);
}

TEST_F(ReaderTest, GoesOnWhereAPageEndsWhileMoreIsWritten) {
  auto* const ring = rings_.Take("rail");
  Put(ring, first_->trail().id(), 30'000);
  const absl::StatusOr<TracePage> page = reader_.Read({.job = "jobs/1"});
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(StampsIn(page->trace), kPageEntries);
  // What is written after the first page was asked for is no part of the listing.
  next_ns_ = dataplane::SystemClock().NowNs() + 1'000'000'000;
  Put(ring, first_->trail().id(), 100);
  const absl::StatusOr<TracePage> rest =
      reader_.Read({.job = "jobs/1", .page_token = page->next_page_token});
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(StampsIn(rest->trace), 30'000 - kPageEntries);
  EXPECT_EQ(rest->next_page_token, "");
}

TEST_F(ReaderTest, OnlyTheLastSeconds) {
  auto* const ring = rings_.Take("rail");
  next_ns_ -= 10'000'000'000;
  Put(ring, first_->trail().id(), 7);
  next_ns_ = dataplane::SystemClock().NowNs();
  Put(ring, first_->trail().id(), 3);
  size_t pages = 0;
  EXPECT_EQ(StampsIn(ReadAll({.last_ns = 5'000'000'000}, &pages)), 3u);
  EXPECT_EQ(StampsIn(ReadAll({.last_ns = 60'000'000'000}, &pages)), 10u);
}

TEST_F(ReaderTest, RefusesTokensThatAreNotItsOwn) {
  for (const char* token : {"x", "!!", "MS8y", "YS9iL2MvZA"}) {
    const auto page = reader_.Read({.page_token = token});
    ASSERT_TRUE(absl::IsInvalidArgument(page.status())) << token;
    EXPECT_EQ(ReasonOf(page.status())->reason, "ARGUMENT_INVALID");
  }
  // Far beyond all rings: the end.
  const auto page = reader_.Read({.page_token = "OTk5OTk5LzEvMS8x"});
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(StampsIn(page->trace), 0u);
}

// Names as long as they may be, and all the measurements that are kept.
TEST_F(ReaderTest, APageHasRoomForItsMessage) {
  std::shared_ptr<TrailRecord> trail;
  for (size_t i = 0; i < Trails::kMaxTrails - 1; ++i) {
    trail = trails_.New({.job = "jobs/" + std::to_string(i)});
    trail->Opened({.session = std::string(64, 's'), .recording = std::string(255, 'r')});
    for (size_t link = 0; link < 64; ++link) trail->AddLink(link, std::string(63, 'l'));
    for (int64_t ns = 1; ns <= 300; ++ns) {
      trail->HeardClock({.sent_ns = ns, .heard_sent_ns = ns, .heard_ns = ns}, ns);
    }
  }
  Put(rings_.Take("rail"), trail->trail().id(), 30'000);
  const absl::StatusOr<TracePage> page = reader_.Read({});
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(StampsIn(page->trace), kPageEntries);
  EXPECT_GT(page->trace.trails.size(), 10u);
  EXPECT_EQ(page->trace.trails.back().clocks.size(), 32u);
  EXPECT_EQ(page->trace.trails.back().clocks.back().at_ns, 300);
  EXPECT_LT(convert::TraceMessages().encode(page->trace).size(), size_t{900} << 10);
}

TEST(TrailsTest, KnowsTheNewestSessions) {
  Trails trails;
  for (size_t i = 0; i < Trails::kMaxTrails + 5; ++i) trails.New({.job = std::to_string(i)});
  const std::vector<TrailInfo> all = trails.All();
  ASSERT_EQ(all.size(), Trails::kMaxTrails);
  EXPECT_EQ(all.front().job, "5");
  EXPECT_EQ(all.front().id, 6u);
}

TEST(TrailsTest, TellsOfThoseThatFail) {
  Trails trails;
  std::string told;
  trails.SetOnFailed([&](const TrailInfo& trail, const absl::Status& cause) {
    told += trail.session + ": " + std::string(cause.message());
  });
  const auto record = trails.New({});
  record->Opened({.session = "s1"});
  record->Failed(absl::UnavailableError("gone"));
  record->Failed(absl::CancelledError("enough"));
  EXPECT_EQ(told, "s1: gone");
}

}  // namespace
}  // namespace tapedeck::services::flight
