#include "services/observe/timeline/timeline.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "services/base/errors.h"
#include "tapedeck/perfetto/v1/trace.pb.h"

namespace tapedeck::services::timeline {
namespace {

namespace fs = std::filesystem;
using dataplane::flight::Kind;
using dataplane::flight::Load;
using perfetto::v1::TrackEvent;

class TimelineTest : public ::testing::Test {
 protected:
  TimelineTest() {
    std::string name = (fs::temp_directory_path() / "timeline.XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~TimelineTest() override { fs::remove_all(root_); }

  static NodeTrace Node(std::vector<flight::Entry> entries) {
    NodeTrace node{.address = "w:1"};
    node.trace.node = "host/worker";
    node.trace.role = NodeRole::kWorker;
    node.trace.trails = {{.id = 1,
                          .session = "s1",
                          .recording = "luns/l0/channels/c/recordings/r",
                          .rails = {"r0"}}};
    node.trace.threads = {{.thread = "session-0", .entries = std::move(entries)}};
    return node;
  }

  absl::Status Write(const NodeTrace& node, uint64_t limit = 1 << 20) {
    auto file = PerfettoFile::Create(path(), false, limit);
    if (!file.ok()) return file.status();
    absl::Status status = Draw({node}, Merge({node}, 1000), **file);
    if (status.ok()) status = (*file)->Finish();
    return status;
  }

  perfetto::v1::Trace ReadBack() {
    std::ifstream in(path(), std::ios::binary);
    perfetto::v1::Trace trace;
    EXPECT_TRUE(trace.ParseFromIstream(&in));
    return trace;
  }

  std::string path() const { return (root_ / "t.pftrace").string(); }
  fs::path root_;
};

TEST_F(TimelineTest, HasTracksSlicesCountersAndArrows) {
  ASSERT_TRUE(Write(Node({{.time_ns = 10, .sequence = 3, .trail = 1, .kind = Kind::kMade},
                          {.time_ns = 15, .sequence = 4, .trail = 1, .kind = Kind::kMade},
                          {.time_ns = 20, .sequence = 3, .trail = 1, .kind = Kind::kComputed},
                          {.time_ns = 25, .sequence = 4, .trail = 1, .kind = Kind::kComputed},
                          {.time_ns = 30,
                           .sequence = 3,
                           .argument = Load{.in_flight = 1, .credits = 7}.argument(),
                           .trail = 1,
                           .kind = Kind::kRail},
                          {.time_ns = 40, .trail = 1, .kind = Kind::kRailDown}}))
                  .ok());
  std::map<uint64_t, std::string> tracks;
  std::map<std::string, std::set<int64_t>> counts;
  std::multiset<std::string> begun;
  std::map<uint64_t, int> depth;
  std::map<std::string, uint64_t> arrows;
  const perfetto::v1::Trace trace = ReadBack();
  for (const auto& packet : trace.packet()) {
    if (packet.has_track_descriptor()) {
      tracks[packet.track_descriptor().uuid()] = packet.track_descriptor().name();
      continue;
    }
    const TrackEvent& event = packet.track_event();
    ASSERT_TRUE(tracks.contains(event.track_uuid())) << "a track comes before what is on it";
    const std::string on = tracks[event.track_uuid()];
    if (event.type() == TrackEvent::TYPE_COUNTER) counts[on].insert(event.counter_value());
    if (event.type() == TrackEvent::TYPE_SLICE_BEGIN) {
      begun.insert(on);
      EXPECT_EQ(++depth[event.track_uuid()], 1) << "what overlaps has tracks of its own";
    }
    if (event.type() == TrackEvent::TYPE_SLICE_END) --depth[event.track_uuid()];
    if (event.type() == TrackEvent::TYPE_INSTANT && on == "session-0" &&
        event.flow_ids_size() > 0) {
      arrows[event.name() + std::to_string(event.debug_annotations(1).int_value())] =
          event.flow_ids(0);
    }
    if (event.name() == "rail_down") {
      EXPECT_TRUE(on == "session-0" || on == "incidents of s1");
    }
  }
  EXPECT_EQ(begun.count("device stream of s1"), 2u);
  EXPECT_EQ(counts["s1 in flight on r0"], std::set<int64_t>{1});
  EXPECT_EQ(counts["s1 credits of r0"], std::set<int64_t>{7});
  EXPECT_EQ(arrows["made3"], arrows["rail3"]);
  EXPECT_NE(arrows["made3"], arrows["made4"]);
}

// The second segment's first flush ends before the first one's last.
TEST_F(TimelineTest, FlushesOfTwoSegmentsAreToldApart) {
  const auto stamp = [](int64_t time_ns, Kind kind, uint64_t sequence, uint64_t blocks) {
    return flight::Entry{
        .time_ns = time_ns, .sequence = sequence, .argument = blocks, .trail = 1, .kind = kind};
  };
  ASSERT_TRUE(Write(Node({stamp(10, Kind::kFlush, 100, 100), stamp(20, Kind::kFlush, 105, 5),
                          stamp(30, Kind::kDurable, 105, 5), stamp(50, Kind::kDurable, 100, 100)}))
                  .ok());
  std::map<std::string, std::set<int64_t>> from;
  std::multiset<uint64_t> begun, ended;
  const perfetto::v1::Trace trace = ReadBack();
  for (const auto& packet : trace.packet()) {
    const TrackEvent& event = packet.track_event();
    if (event.type() == TrackEvent::TYPE_SLICE_BEGIN) begun.insert(packet.timestamp());
    if (event.type() == TrackEvent::TYPE_SLICE_END) ended.insert(packet.timestamp());
    for (const auto& note : event.debug_annotations()) {
      if (note.name() == "from") from[event.name()].insert(note.int_value());
    }
  }
  EXPECT_EQ(from["durable"], (std::set<int64_t>{0, 100}));
  EXPECT_EQ(begun, (std::multiset<uint64_t>{10, 20}));
  EXPECT_EQ(ended, (std::multiset<uint64_t>{30, 50}));
}

TEST_F(TimelineTest, IsNoLargerThanItsLimitAndLeavesNothingBeyondIt) {
  const NodeTrace node = Node({{.time_ns = 10, .trail = 1, .kind = Kind::kMade}});
  const absl::Status status = Write(node, 50);
  ASSERT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(ReasonOf(status)->reason, "LIMIT_REACHED");
  EXPECT_TRUE(fs::is_empty(root_));
}

// Every stamp with all that can be drawn of it.
TEST_F(TimelineTest, NoStampTakesMoreThanIsReckoned) {
  std::vector<flight::Entry> entries;
  const uint64_t load = Load{.in_flight = 4000, .credits = 4000}.argument();
  for (uint64_t i = 0; i < 500; ++i) {
    const auto time_ns = static_cast<int64_t>((uint64_t{1} << 60) + i * 1000);
    entries.push_back({.time_ns = time_ns,
                       .sequence = (uint64_t{1} << 40) + i,
                       .argument = load,
                       .trail = 1,
                       .kind = Kind::kRail});
    entries.push_back({.time_ns = time_ns + 100'000,
                       .sequence = (uint64_t{1} << 40) + i,
                       .argument = load,
                       .trail = 1,
                       .kind = Kind::kReceived});
  }
  NodeTrace node = Node(std::move(entries));
  node.trace.trails[0].session = std::string(64, 's');
  node.trace.trails[0].rails[0] = std::string(63, 'r');
  ASSERT_TRUE(Write(node).ok());
  EXPECT_LE(fs::file_size(path()), 1000 * kMaxStampBytes);
}

TEST_F(TimelineTest, KindsOfNewerVersionsAreLeftOut) {
  ASSERT_TRUE(Write(Node({{.time_ns = 1, .trail = 1, .kind = static_cast<Kind>(250)}})).ok());
  const perfetto::v1::Trace trace = ReadBack();
  for (const auto& packet : trace.packet()) EXPECT_FALSE(packet.has_track_event());
}

}  // namespace
}  // namespace tapedeck::services::timeline
