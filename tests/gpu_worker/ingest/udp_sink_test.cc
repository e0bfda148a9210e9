// What the udp sink sends, as the source ingest receives it: the samples that were recorded, each
// at its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "dataplane/executor/timed_wait.h"
#include "dataplane/socket_address.h"
#include "gpu_worker/stages/udp/sink.h"
#include "services/base/addresses/listen_address.h"
#include "services/base/errors.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/gpu_worker/pump.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::Block;
using dataplane::Flow;
using services::StageParameters;
using testing::HasSubstr;
using testing::SizeIs;

services::StageSpec UdpTo(const std::string& address, uint64_t packet_bytes = 4096) {
  return {"udp", {{"address", address}, {"packet_bytes", packet_bytes}}};
}

std::string ReasonIn(const absl::Status& status) {
  return services::ReasonOf(status).value_or(dataplane::ErrorReason()).reason;
}

class UdpSinkTest : public testing::Test {
 protected:
  void SetUp() override {
    auto choice = pipeline::ChooseDevice("host");
    ASSERT_TRUE(choice.ok()) << choice.status();
    choice_ = *std::move(choice);
  }

  // Listens at a port that the system chooses.
  void Listen(TestRecording test = {}) {
    test.source.name = "ingest";
    test.source.parameters["udp"] = "127.0.0.1:0";
    test.slots = 4;
    auto recording = Record(choice_, test, clock_);
    ASSERT_TRUE(recording.ok()) << recording.status();
    receiving_ = *std::move(recording);
    address_ = absl::StrCat("127.0.0.1:", receiving_.notes.at(0).facts.at("port"));
  }

  // Records what comes, on its own thread; Arrived waits for so many blocks.
  std::future<std::vector<Pulled>> Receive() {
    return std::async(std::launch::async, [this] {
      Signal signal;
      receiving_.source->SetWaker(signal.waker());
      std::vector<Pulled> out;
      while (true) {
        Block block;
        const auto flow = receiving_.source->Pull(&block);
        if (!flow.ok() || *flow == Flow::kEnd) return out;
        if (*flow == Flow::kNotNow) {
          if (!signal.Wait()) return out;
          continue;
        }
        const auto payload = block.payload();
        out.push_back({block.header(),
                       std::string(reinterpret_cast<const char*>(payload.data()), payload.size())});
        absl::MutexLock lock(&mutex_);
        ++arrived_;
      }
    });
  }
  void AwaitArrived(size_t blocks) {
    absl::MutexLock lock(&mutex_);
    const auto there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return arrived_ >= blocks; };
    EXPECT_TRUE(dataplane::AwaitFor(mutex_, absl::Condition(&there), absl::Seconds(10))) << blocks;
  }

  // Plays synth to the sink. No block is sent before the one before it has been received: the
  // kernel holds little for a user without rights.
  absl::Status PlayTo(const services::StageSpec& sink, uint64_t blocks, uint64_t missing) {
    return PlayTo({.sink = sink, .blocks = blocks}, missing);
  }
  absl::Status PlayTo(const TestPlayback& test, uint64_t missing) {
    auto recording = Record(choice_, {.source = Synth(5), .blocks = test.blocks}, clock_);
    if (!recording.ok()) return recording.status();
    auto playback = Play(choice_, test);
    if (!playback.ok()) return playback.status();
    EXPECT_TRUE(playback->needs_order);
    const auto look = [&](Block& block) {
      const uint64_t sequence = block.header().sequence;
      sent_.emplace_back(reinterpret_cast<const char*>(block.payload().data()),
                         block.payload().size());
      // The receiver waits for late packets of a missing one until something comes two behind it.
      const bool behind_gap = sequence > missing && sequence - missing <= 2;
      if (is_received_ && !behind_gap) AwaitArrived(sequence);
      if (sequence == missing) block.header().flags |= dataplane::kBlockMissing;
      return true;
    };
    return Pump(*recording->source, *playback->sink, {.look = look});
  }

  const dataplane::SystemClock clock_{};
  pipeline::DeviceChoice choice_;
  pipeline::Recording receiving_;
  std::string address_;
  std::vector<std::string> sent_;  // payloads, by block
  bool is_received_ = true;

  absl::Mutex mutex_;
  size_t arrived_ ABSL_GUARDED_BY(mutex_) = 0;
};

TEST_F(UdpSinkTest, WhatIsPlayedIsRecordedAgain) {
  Listen();
  auto receiving = Receive();
  const absl::Status played = PlayTo(UdpTo(address_), 12, UINT64_MAX);
  ASSERT_TRUE(played.ok()) << played;
  const std::vector<Pulled> received = receiving.get();
  ASSERT_THAT(received, SizeIs(12));
  for (size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i].header.sequence, i);
    EXPECT_EQ(received[i].header.flags, 0u) << i;
    EXPECT_TRUE(received[i].payload == sent_[i]) << i;
  }
}

TEST_F(UdpSinkTest, AMissingBlockIsAGapAndNoZeros) {
  Listen();
  auto receiving = Receive();
  const absl::Status played = PlayTo(UdpTo(address_), 8, 3);
  ASSERT_TRUE(played.ok()) << played;
  const std::vector<Pulled> received = receiving.get();
  ASSERT_THAT(received, SizeIs(8));
  for (size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i].header.sample_index, i * kTestBlockBytes / 8);
    EXPECT_EQ(received[i].header.flags, i == 3 ? dataplane::kBlockMissing : 0u) << i;
    EXPECT_TRUE(received[i].payload == (i == 3 ? "" : sent_[i])) << i;
  }
}

// Big-endian by a transform, with what the annotations tell, as far as samples are counted alike.
TEST_F(UdpSinkTest, AsVita49ItIsWhatTheTransformGives) {
  Listen({.datatype = "cf32_be",
          .source = {.parameters = {{"packets", "vita49"}}},
          .blocks = 8,
          .sample_rate = 1e6});
  auto receiving = Receive();
  services::StageSpec sink = UdpTo(address_);
  sink.parameters["packets"] = "vita49";
  const absl::Status played = PlayTo(
      TestPlayback{.sink = sink,
                   .transforms = {Convert("cf32_le", "cf32_be")},
                   .blocks = 8,
                   .sample_rate = 1e6,
                   .annotations = {{.sample_start = 9000, .label = "signal", .comment = "gain=3"}}},
      UINT64_MAX);
  ASSERT_TRUE(played.ok()) << played;
  const std::vector<Pulled> received = receiving.get();
  ASSERT_THAT(received, SizeIs(8));
  for (size_t i = 0; i < received.size(); ++i) {
    std::string swapped = received[i].payload;
    for (size_t at = 0; at < swapped.size(); at += 4) {
      std::reverse(swapped.begin() + at, swapped.begin() + at + 4);
    }
    EXPECT_TRUE(swapped == sent_[i]) << i;
  }
  const auto marks = receiving_.report->Take(stages::StageReport::Which::kAll);
  ASSERT_THAT(marks, SizeIs(2));
  EXPECT_EQ(marks[0].comment, "sample_rate=1000000");
  EXPECT_EQ(marks[1].comment, "gain=3 sample_rate=1000000");
  EXPECT_EQ(marks[1].sample_start, 9000u);
}

TEST_F(UdpSinkTest, APlaybackThatNobodyReceivesFails) {
  int port = 0;
  {
    const auto socket = services::ListenForDatagrams("127.0.0.1:0");
    ASSERT_TRUE(socket.ok()) << socket.status();
    port = dataplane::LocalAddress(*socket).port();
  }
  is_received_ = false;
  const absl::Status played = PlayTo(UdpTo(absl::StrCat("127.0.0.1:", port)), 20, UINT64_MAX);
  EXPECT_EQ(played.code(), absl::StatusCode::kUnavailable) << played;
  EXPECT_EQ(ReasonIn(played), "DESTINATION_UNREACHABLE");
  EXPECT_THAT(std::string(played.message()), HasSubstr("no program receives there"));
}

TEST_F(UdpSinkTest, GoesWhereTheWorkerMaySendAndNowhereElse) {
  using services::identity::AddressPatterns;
  const auto parameters = stages::udp::Parse({{"address", "127.0.0.1:4000"}});
  ASSERT_TRUE(parameters.ok()) << parameters.status();
  const auto create = [&](const AddressPatterns& destinations) {
    return stages::udp::Create(*parameters,
                               {.destinations = destinations, .block_bytes = kTestBlockBytes})
        .status();
  };
  EXPECT_TRUE(create(AddressPatterns::Any()).ok());
  EXPECT_TRUE(create(*AddressPatterns::Parse("", {"127.0.0.*:4000"})).ok());
  for (const auto& destinations :
       {AddressPatterns(), *AddressPatterns::Parse("", {"127.0.0.1:4001"})}) {
    const absl::Status refused = create(destinations);
    EXPECT_EQ(refused.code(), absl::StatusCode::kPermissionDenied) << refused;
    EXPECT_EQ(ReasonIn(refused), "DESTINATION_NOT_ALLOWED");
  }
}

TEST_F(UdpSinkTest, SaysWhatIsWrongWithItsParameters) {
  const std::string address = "; it must be HOST:PORT with an IP address, of IPv6 in brackets";
  const struct {
    StageParameters given;
    std::string text;
  } rows[] = {
      {{}, "udp: address is missing" + address},
      {{{"address", "127.0.0.1"}}, "udp: address is \"127.0.0.1\"" + address},
      {{{"address", "127.1:40"}}, "udp: address is \"127.1:40\"" + address},
      {{{"address", "localhost:40"}}, "udp: address is \"localhost:40\"" + address},
      {{{"address", "127.0.0.1:0"}}, "udp: address is \"127.0.0.1:0\"" + address},
      {{{"address", "127.0.0.1:65536"}}, "udp: address is \"127.0.0.1:65536\"" + address},
      {{{"address", "::1:40"}}, "udp: address is \"::1:40\"" + address},
      {{{"address", "1.2.3.4:5"}, {"packet_bytes", 1000}},
       "udp: packet_bytes is 1000; it must be a multiple of 16, at most 65488"},
      {{{"address", "1.2.3.4:5"}, {"packet_bytes", 0}},
       "udp: packet_bytes is 0; it must be a multiple of 16, at most 65488"},
      {{{"address", "1.2.3.4:5"}, {"packet_bytes", 65504}},
       "udp: packet_bytes is 65504; it must be a multiple of 16, at most 65488"},
      {{{"address", "1.2.3.4:5"}, {"packets", "vita"}},
       "udp: packets is \"vita\"; it must be one of numbered, vita49"},
      {{{"address", "1.2.3.4:5"}, {"packets", "vita49"}, {"packet_bytes", 65488}},
       "udp: packet_bytes is 65488; it must be a multiple of 16, at most 65472"},
  };
  for (const auto& row : rows) {
    const absl::Status refused = stages::udp::Parse(row.given).status();
    EXPECT_EQ(refused.message(), row.text);
    EXPECT_EQ(ReasonIn(refused), "ARGUMENT_INVALID");
  }
  EXPECT_EQ(stages::udp::Parse({{"address", "[0::1]:40"}})->address.text(), "[::1]:40");
  const absl::Status uneven = Play(choice_, {.sink = UdpTo("127.0.0.1:9", 4112)}).status();
  EXPECT_EQ(uneven.message(), "udp: packet_bytes is 4112; it must divide a block, which has 65536");
}

}  // namespace
}  // namespace tapedeck::gpu_worker
