// A node with a LUN whose channel moves its recordings to another one, by a clock that a test puts
// forward.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>

#include "dataplane/clock.h"
#include "tests/storage_node/node_fixture.h"

namespace tapedeck::storage_node {

// Goes on as the system's does, and so much more. It begins as the clock of sessions does, by which
// recordings end.
class ShiftedClock final : public dataplane::Clock {
 public:
  int64_t NowNs() const override { return system_.NowNs() + shift_ns; }
  int64_t WallNs() const override {
    return ManualClock::kStartNs + NowNs() - begun_ns_ + stepped_ns;
  }
  std::atomic<int64_t> shift_ns = 0;
  std::atomic<int64_t> stepped_ns = 0;  // of the wall clock alone

 private:
  const dataplane::SystemClock system_{};
  const int64_t begun_ns_ = system_.NowNs();
};

class MoverTest : public testing::Test {
 protected:
  static constexpr char kFrom[] = "luns/l/channels/c";
  static constexpr char kTo[] = "luns/deep/channels/c";
  static constexpr int64_t kHourNs = 3'600'000'000'000;
  static constexpr uint64_t kRate = uint64_t{1} << 40;

  MoverTest() {
    Restart();
    MakeLun("deep");
  }
  // Between LUNs of these kinds.
  MoverTest(const std::string& from, const std::string& to) : node_(from) {
    Restart();
    MakeLun("deep", 64 << 20, to);
  }

  void Restart() { node_.Restart({.clock = clock_}); }

  void MakeLun(const std::string& id, uint64_t capacity_bytes = 0,
               const std::string& store = "posix") {
    services::Lun lun{.name = "luns/" + id, .store = store, .capacity_bytes = capacity_bytes};
    if (store == "mirror") {
      lun.store = "posix";
      lun.copies = 2;
      lun.members = {node_.dir().Make(id), node_.dir().Make(id + "2")};
    } else if (store == "device") {
      lun.members.push_back(node_.dir().MakeImage(id, 1 << 30));
    } else if (store != "memory") {
      lun.members.push_back(node_.dir().Make(id));
    }
    const auto made = node_.node().luns().CreateLun(lun, "");
    ASSERT_TRUE(made.ok()) << made.status();
  }

  // The channel there is one of other samples: it takes nothing of the one here.
  void MakeForeignChannel() {
    const services::Channel other{.name = kTo, .block_bytes = kBlockBytes, .datatype = "cu8"};
    ASSERT_TRUE(node_.node().channels().CreateChannel(other, "").ok());
  }

  absl::Status SetPolicy(const std::string& to, int64_t after_ns = kHourNs,
                         const std::string& channel = kFrom, uint64_t rate = kRate) {
    services::ChannelUpdate update{.name = channel};
    update.Set(&services::Channel::move_to, to)
        .Set(&services::Channel::move_after_ns, after_ns)
        .Set(&services::Channel::move_bytes_per_s, rate);
    return node_.node().channels().UpdateChannel(update, "").status();
  }

  // So much later, all that is due by then has been tried.
  void After(int64_t ns = kHourNs + 1'000'000'000) {
    clock_->shift_ns += ns;
    node_.node().mover().Look();
  }

  size_t Count(const std::string& channel) {
    const auto all = node_.node().recordings().ListRecordings(channel);
    return all.ok() ? all->size() : 0;
  }

  // Where the error says that it has gone; empty: it is there, or nowhere.
  std::string MovedTo(const std::string& recording) {
    const auto reason =
        services::ReasonOf(node_.node().recordings().GetRecording(recording).status());
    if (!reason.has_value() || !reason->metadata.contains("moved_to")) return "";
    return reason->metadata.at("moved_to");
  }

  bool IsThere(const std::string& recording) {
    return node_.node().recordings().GetRecording(recording).ok();
  }

  uint64_t Waiting() { return node_.node().mover().waiting()["l"]; }

  // A recording in the channel there that says it is a copy of `source`, of so many blocks.
  std::string Copy(const std::string& source, uint64_t blocks, const absl::Status& cause,
                   uint64_t seed, const std::string& draft_of) {
    const services::Recording from = node_.Get(source);
    auto recorder =
        node_.Record({.channel = kTo,
                      .origin = {.move_draft = draft_of},
                      .original = services::session::Original{.recording = from.name,
                                                              .uid = from.uid,
                                                              .open_time_ns = from.open_time_ns}},
                     seed);
    EXPECT_TRUE(recorder.ok()) << recorder.status();
    for (uint64_t i = 0; i < blocks; ++i) EXPECT_TRUE(recorder->Push(i).ok()) << i;
    EXPECT_TRUE(recorder->Finish(cause).ok());
    return recorder->admission.accept.recording;
  }

  const std::shared_ptr<ShiftedClock> clock_ = std::make_shared<ShiftedClock>();
  NodeFixture node_;
};

}  // namespace tapedeck::storage_node
