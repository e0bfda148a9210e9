// The ingest source behind real sockets, with the emulator at their other end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gpu_worker/emulator/sender.h"
#include "gpu_worker/packets/numbered/packet.h"
#include "gpu_worker/stages/ingest/counts.h"
#include "services/base/errors.h"
#include "tests/gpu_worker/device/devices.h"
#include "tests/gpu_worker/ingest/vita49_packets.h"
#include "tests/gpu_worker/jobs.h"
#include "tests/gpu_worker/pump.h"
#include "tests/services/noted.h"

namespace tapedeck::gpu_worker {
namespace {

using dataplane::Flow;
using emulator::Target;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::SizeIs;

constexpr uint64_t kSampleBytes = 8;
constexpr uint64_t kSamplesOfBlock = kTestBlockBytes / kSampleBytes;

// With numbers that wrap in the stream.
constexpr emulator::NumberedStream kWrapping{.stream = 9, .first_number = 0xfffffff0};

class IngestTest : public DeviceTest {
 protected:
  // Listens at a port that the system chooses.
  void Listen(services::StageParameters parameters, const std::string& transport = "udp",
              double sample_rate = 0) {
    parameters[transport] = "127.0.0.1:0";
    auto recording = gpu_worker::Record(
        choice_, {.source = {"ingest", parameters}, .slots = 4, .sample_rate = sample_rate},
        clock_);
    ASSERT_TRUE(recording.ok()) << recording.status();
    recording_ = *std::move(recording);
    address_ = absl::StrCat("127.0.0.1:", recording_.notes.at(0).facts.at("port"));
  }

  absl::StatusOr<emulator::Sent> Send(const emulator::Plan& plan,
                                      Target::Transport transport = Target::Transport::kUdp) {
    auto target = Target::Connect(transport, address_);
    if (!target.ok()) return target.status();
    const auto maker = emulator::CreateNumbered(kWrapping);
    return emulator::SendAll({.plan = plan, .bytes_per_s = 50'000'000, .ends = 3}, *maker, *target);
  }

  // What came of a stream, beside what was sent.
  struct Outcome {
    emulator::Sent sent;
    std::vector<Pulled> blocks;
    std::vector<services::Annotation> lost;
  };
  Outcome Record(const emulator::Plan& plan,
                 Target::Transport transport = Target::Transport::kUdp) {
    auto sent = std::async(std::launch::async, [&] { return Send(plan, transport); });
    auto blocks = PullAll(*recording_.source);
    EXPECT_TRUE(blocks.ok()) << blocks.status();
    Outcome outcome{.sent = sent.get().value(),
                    .lost = recording_.report->Take(stages::StageReport::Which::kAll)};
    if (blocks.ok()) outcome.blocks = *std::move(blocks);
    return outcome;
  }

  // The sum of what is there and what is named as lost, after a look at each sample.
  static uint64_t Check(const Outcome& outcome) {
    uint64_t there = 0, lost = 0;
    for (const auto& [header, payload] : outcome.blocks) {
      if ((header.flags & dataplane::kBlockMissing) != 0) lost += kSamplesOfBlock;
      for (size_t i = 0; i < payload.size() / kSampleBytes; ++i) {
        uint64_t sample = 0;
        std::memcpy(&sample, payload.data() + i * kSampleBytes, kSampleBytes);
        if (sample == 0) continue;
        EXPECT_EQ(sample, header.sample_index + i + 1);
        ++there;
      }
    }
    for (const services::Annotation& annotation : outcome.lost) lost += annotation.sample_count;
    return there + lost;
  }

  // A fact of the note that counts.
  uint64_t Counted(const std::string& what) const {
    uint64_t count = UINT64_MAX;
    for (const services::Note& note : recording_.report->Notes()) {
      if (note.code != "INGEST_COUNTS") continue;
      EXPECT_TRUE(absl::SimpleAtoi(note.facts.at(what), &count)) << what;
    }
    return count;
  }

  const dataplane::SystemClock clock_{};
  pipeline::Recording recording_;
  std::string address_;
};

TEST_P(IngestTest, AStreamOfDatagramsArrivesWhole) {
  Listen({});
  const Outcome outcome = Record({.packet_bytes = 1440, .samples = 5 * kSamplesOfBlock + 1000});
  EXPECT_EQ(Check(outcome), outcome.sent.samples);
  ASSERT_THAT(outcome.blocks, SizeIs(6));
  EXPECT_EQ(outcome.blocks.back().payload.size(), 1000 * kSampleBytes);
  EXPECT_THAT(outcome.lost, SizeIs(0));
  EXPECT_EQ(recording_.origin.source.name, "ingest");
  EXPECT_EQ(recording_.origin.datatype, "cf32_le");
  EXPECT_EQ(Counted("samples"), outcome.sent.samples);
  EXPECT_EQ(Counted("dropped"), 0u);
}

TEST_P(IngestTest, WhatIsLostIsNamedToTheSample) {
  Listen({});
  const Outcome outcome = Record({.packet_bytes = 1440,
                                  .samples = 60 * kSamplesOfBlock + 77,
                                  .drop = 5000,
                                  .drop_run = 7,
                                  .repeat = 20'000,
                                  .reorder = 20'000,
                                  .seed = 4});
  EXPECT_GT(outcome.sent.dropped_samples, 0u);
  EXPECT_GT(outcome.sent.repeated_packets, 0u);
  EXPECT_GT(outcome.sent.reordered_packets, 0u);
  EXPECT_EQ(Check(outcome), outcome.sent.samples);
  EXPECT_THAT(outcome.lost, Each(Field(&services::Annotation::label, "lost")));
  EXPECT_EQ(Counted("lost_samples"), outcome.sent.dropped_samples);
  EXPECT_EQ(Counted("repeated"), outcome.sent.repeated_packets);
}

TEST_P(IngestTest, LostBlocksAreMissing) {
  Listen({});
  const Outcome outcome = Record({.packet_bytes = 8192,
                                  .samples = 80 * kSamplesOfBlock,
                                  .drop = 20'000,
                                  .drop_run = 25,
                                  .seed = 2});
  EXPECT_EQ(Check(outcome), outcome.sent.samples);
  EXPECT_THAT(outcome.blocks, SizeIs(80));
  const auto missing = std::ranges::count_if(outcome.blocks, [](const Pulled& block) {
    return (block.header.flags & dataplane::kBlockMissing) != 0;
  });
  EXPECT_GT(missing, 0);
}

TEST_P(IngestTest, AConnectionLosesNothing) {
  Listen({}, "tcp");
  const Outcome outcome =
      Record({.packet_bytes = 1440, .samples = 40 * kSamplesOfBlock + 3}, Target::Transport::kTcp);
  EXPECT_EQ(Check(outcome), outcome.sent.samples);
  EXPECT_THAT(outcome.lost, SizeIs(0));
}

TEST_P(IngestTest, WhatIsNoStreamOfPacketsEndsIt) {
  Listen({}, "tcp");
  auto target = Target::Connect(Target::Transport::kTcp, address_);
  ASSERT_TRUE(target.ok()) << target.status();
  const std::vector<std::byte> rubbish(100, std::byte{'x'});
  const std::span<const std::byte> packet(rubbish);
  ASSERT_TRUE(target->Send(std::span(&packet, 1)).ok());
  const absl::Status status = PullAll(*recording_.source).status();
  ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
  EXPECT_EQ(services::ReasonOf(status)->reason, "PROTOCOL_VIOLATION");
}

TEST_P(IngestTest, StrangersAreCountedAndDoNotKeepItAwake) {
  Listen({{"stream", uint64_t{8}}, {"timeout", 0.2}});
  ASSERT_TRUE(Send({.samples = 1000}).ok());
  const absl::Status status = PullAll(*recording_.source).status();
  ASSERT_TRUE(services::ReasonOf(status).has_value()) << status;
  EXPECT_EQ(services::ReasonOf(status)->reason, "SOURCE_SILENT");
  EXPECT_THAT(std::string(status.message()), HasSubstr("foreign 11"));
}

TEST_P(IngestTest, ASilenceAfterSamplesEndsTheStreamUnlessItIsToBeAnError) {
  for (const std::string silence : {"end", "error"}) {
    Listen({{"timeout", 0.2}, {"silence", silence}});
    auto target = Target::Connect(Target::Transport::kUdp, address_);
    ASSERT_TRUE(target.ok()) << target.status();
    std::vector<std::byte> samples(800, std::byte{1});
    auto packet = packets::numbered::Encode({.stream = 9, .samples_bytes = 800});
    std::vector<std::byte> whole(packet.begin(), packet.end());
    whole.insert(whole.end(), samples.begin(), samples.end());
    const std::span<const std::byte> bytes(whole);
    ASSERT_TRUE(target->Send(std::span(&bytes, 1)).ok());
    const auto blocks = PullAll(*recording_.source);
    if (silence == "error") {
      ASSERT_TRUE(services::ReasonOf(blocks.status()).has_value()) << blocks.status();
      EXPECT_EQ(services::ReasonOf(blocks.status())->reason, "SOURCE_SILENT");
      continue;
    }
    ASSERT_TRUE(blocks.ok()) << blocks.status();
    ASSERT_THAT(*blocks, SizeIs(1));
    EXPECT_EQ(blocks->front().payload.size(), samples.size());
    EXPECT_THAT(recording_.report->Notes(),
                testing::Contains(services::Noted("INGEST_ENDED|cause=SILENCE|timeout_s=0.2")));
  }
}

// 100 samples behind the first ones last 0.1 ms at the channel's rate, and here 150 ms or more.
TEST_P(IngestTest, ASlowSenderWithoutStampsIsNamed) {
  Listen({{"timeout", 0.3}}, "udp", 1e6);
  auto target = Target::Connect(Target::Transport::kUdp, address_);
  ASSERT_TRUE(target.ok()) << target.status();
  for (uint32_t number = 0; number < 2; ++number) {
    if (number > 0) absl::SleepFor(absl::Milliseconds(150));
    auto packet = packets::numbered::Encode({.number = number, .stream = 9, .samples_bytes = 800});
    std::vector<std::byte> whole(packet.begin(), packet.end());
    whole.resize(whole.size() + 800, std::byte{1});
    const std::span<const std::byte> bytes(whole);
    ASSERT_TRUE(target->Send(std::span(&bytes, 1)).ok());
  }
  ASSERT_TRUE(PullAll(*recording_.source).ok());
  EXPECT_THAT(recording_.report->Notes(),
              testing::Contains(services::Noted("INGEST_OTHER_PACE|sample_rate=1000000")));
}

TEST(IngestPaceTest, OnlyWhatANetworkDoesNotDoIsNamed) {
  using stages::ingest::OtherPace;
  constexpr int64_t kMs = dataplane::kMillisecondNs;
  EXPECT_EQ(OtherPace(48'000, 1'000 * kMs, 48'000), 0);
  EXPECT_EQ(OtherPace(48'000, 1'099 * kMs, 48'000), 0) << "less than 100 ms";
  EXPECT_EQ(OtherPace(4'800'000, 100'900 * kMs, 48'000), 0) << "less than 1 %";
  EXPECT_NEAR(OtherPace(4'800'000, 102'000 * kMs, 48'000), 47'058.8, 0.1);
  EXPECT_NEAR(OtherPace(4'800'000, 50'000 * kMs, 48'000), 96'000, 0.1);
  EXPECT_EQ(OtherPace(48'000, 0, 48'000), 0);
  EXPECT_EQ(OtherPace(48'000, 100 * kMs, 0), 0);
}

// Those of the blocks that were still open, too.
TEST_P(IngestTest, AStreamThatIsStoppedHasAllThatCame) {
  Listen({});
  auto target = Target::Connect(Target::Transport::kUdp, address_);
  ASSERT_TRUE(target.ok()) << target.status();
  const auto maker = emulator::CreateNumbered(kWrapping);
  const auto sent =
      emulator::SendAll({.plan = {.packet_bytes = 1440, .samples = 2 * kSamplesOfBlock + 1000},
                         .bytes_per_s = 50'000'000,
                         .ends = 0},
                        *maker, *target);
  ASSERT_TRUE(sent.ok()) << sent.status();
  Signal signal;
  recording_.source->SetWaker(signal.waker());
  uint64_t bytes = 0;
  Flow flow = Flow::kNotNow;
  bool stopped = false;
  while (flow != Flow::kEnd) {
    dataplane::Block block;
    flow = recording_.source->Pull(&block).value();
    if (flow == Flow::kMoved) bytes += block.header().payload_bytes;
    if (!stopped && Counted("samples") == sent->samples) {
      recording_.source->Stop();
      stopped = true;
    }
    if (flow == Flow::kNotNow) absl::SleepFor(absl::Milliseconds(2));
  }
  EXPECT_EQ(bytes, sent->samples * kSampleBytes);
}

TEST_P(IngestTest, ShortForeignAndRepeatedPacketsChangeNothing) {
  Listen({{"stream", uint64_t{9}}});
  auto target = Target::Connect(Target::Transport::kUdp, address_);
  ASSERT_TRUE(target.ok()) << target.status();
  using packets::numbered::Encode;
  const auto foreign = Encode({.stream = 8, .samples_bytes = 8, .end = true});
  const auto short_of_samples = Encode({.stream = 9, .samples_bytes = 800});
  const std::vector<std::byte> rubbish(3000, std::byte{'T'});
  const std::span<const std::byte> hostile[] = {foreign, short_of_samples, rubbish,
                                                std::span(short_of_samples).first(3)};
  for (const auto& packet : hostile) ASSERT_TRUE(target->Send(std::span(&packet, 1)).ok());
  const Outcome outcome = Record({.packet_bytes = 1440,
                                  .samples = 5 * kSamplesOfBlock + 7,
                                  .repeat = 20'000,
                                  .reorder = 20'000,
                                  .seed = 3});
  EXPECT_EQ(Check(outcome), outcome.sent.samples);
  EXPECT_THAT(outcome.lost, SizeIs(0));
  EXPECT_EQ(Counted("foreign"), 1u);
  EXPECT_EQ(Counted("malformed"), 3u);
  EXPECT_GT(outcome.sent.repeated_packets, 0u);
  EXPECT_EQ(Counted("repeated"), outcome.sent.repeated_packets);
}

// One that claims to be 65,000 blocks ahead, in the middle of the others.
TEST_P(IngestTest, AForgedPacketLosesNothing) {
  Listen({});
  auto target = Target::Connect(Target::Transport::kUdp, address_);
  ASSERT_TRUE(target.ok()) << target.status();
  constexpr uint64_t kBlocks = 6, kSamples = 128, kPackets = kBlocks * kSamplesOfBlock / kSamples;
  constexpr uint32_t kForged = 65'000 * kSamplesOfBlock / kSamples;
  const auto send = [&](uint32_t number, bool end) {
    auto packet = packets::numbered::Encode(
        {.number = number, .stream = 9, .samples_bytes = kSamples * kSampleBytes, .end = end});
    std::vector<std::byte> bytes(packet.begin(), packet.end());
    for (uint64_t i = 0; !end && i < kSamples; ++i) {
      const uint64_t sample = number * kSamples + i + 1;
      const auto* begin = reinterpret_cast<const std::byte*>(&sample);
      bytes.insert(bytes.end(), begin, begin + kSampleBytes);
    }
    const std::span<const std::byte> whole(bytes);
    ASSERT_TRUE(target->Send(std::span(&whole, 1)).ok());
  };
  const auto sent = std::async(std::launch::async, [&] {
    for (uint32_t i = 0; i < kPackets; ++i) {
      if (i == kPackets / 2) send(kForged, false);
      send(i, false);
      if (i % 16 == 0) absl::SleepFor(absl::Milliseconds(1));  // the kernel keeps some 100
    }
    for (int i = 0; i < 3; ++i) send(kPackets - 1, true);
  });
  const auto blocks = PullAll(*recording_.source);
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  EXPECT_THAT(*blocks, SizeIs(kBlocks));
  const auto lost = recording_.report->Take(stages::StageReport::Which::kAll);
  EXPECT_EQ(Check({.blocks = *blocks, .lost = lost}), kPackets * kSamples);
  EXPECT_THAT(lost, SizeIs(0));
  EXPECT_EQ(Counted("out_of_place"), 1u);
}

TEST_P(IngestTest, WrongParametersSayWhatIsWrong) {
  const struct {
    services::StageParameters parameters;
    const char* text;
  } rows[] = {
      {{}, "HOST:PORT"},
      {{{"udp", "nowhere"}}, "HOST:PORT"},
      {{{"udp", "127.0.0.1:1"}, {"tcp", "127.0.0.1:1"}}, "left out"},
      {{{"udp", "127.0.0.1:0"}, {"packets", "nubered"}}, "one of numbered"},
      {{{"udp", "127.0.0.1:0"}, {"stream", uint64_t{1} << 32}}, "32 bits"},
      {{{"udp", "127.0.0.1:0"}, {"timeout", 0.0}}, "0.001"},
      {{{"udp", "127.0.0.1:0"}, {"buffer", 1}}, "bytes"},
      {{{"udp", "192.0.2.1:4000"}}, "give an address of this machine"},
      {{{"udp", "127.0.0.1:0"}, {"packets", "vita49"}}, "into a channel of cf32_be"},
  };
  for (const auto& row : rows) {
    const absl::Status status =
        gpu_worker::Record(choice_, {.source = {"ingest", row.parameters}}, clock_).status();
    ASSERT_TRUE(services::ReasonOf(status).has_value()) << row.text << status;
    EXPECT_EQ(services::ReasonOf(status)->reason, "ARGUMENT_INVALID") << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.text));
  }
}

// Lost, repeated and out of order, contexts between them.
TEST_P(IngestTest, AStreamOfVita49IsTunedWhereItSays) {
  constexpr uint64_t kSamples = 256, kPackets = 1000, kRate = 1'000'000, kBegin = 123'456;
  std::vector<std::vector<std::byte>> packets;
  std::map<uint64_t, std::string> tuned;
  uint64_t lost = 0;
  for (uint64_t i = 0; i < kPackets; ++i) {
    if (i % 10 == 5) {  // in the middle of a packet
      const uint64_t sample = i * kSamples + i % 7;
      const double hertz = 1e9 + static_cast<double>(i) * 1e3;
      packets.push_back(VitaContext(1, VitaTime::Of(kBegin + sample, kRate), hertz, 0));
      tuned[sample] = absl::StrFormat("frequency=%.15g ", hertz);
      if (i % 20 == 5) packets.push_back(packets.back());
    }
    if (i > 0 && i % 17 == 0 && i + 1 < kPackets) {
      lost += kSamples;
      continue;
    }
    const std::vector<std::byte> samples(kSamples * 4, std::byte{1});
    packets.push_back(VitaData(1, VitaTime::Of(kBegin + i * kSamples, kRate), samples));
    if (i % 13 == 0) packets.push_back(packets.back());
    if (i > 0 && i % 11 == 0) std::swap(packets.back(), packets[packets.size() - 2]);
  }
  auto recording = gpu_worker::Record(
      choice_,
      {.datatype = "ci16_be",
       .source = {"ingest", {{"udp", "127.0.0.1:0"}, {"packets", "vita49"}, {"timeout", 1}}},
       .slots = 4,
       .sample_rate = kRate},
      clock_);
  ASSERT_TRUE(recording.ok()) << recording.status();
  auto target = Target::Connect(
      Target::Transport::kUdp, absl::StrCat("127.0.0.1:", recording->notes.at(0).facts.at("port")));
  ASSERT_TRUE(target.ok()) << target.status();
  for (const auto& packet : packets) {
    const std::span<const std::byte> bytes(packet);
    ASSERT_TRUE(target->Send(std::span(&bytes, 1)).ok());
  }
  EXPECT_TRUE(PullAll(*recording->source).ok());
  uint64_t named = 0, marks = 0;
  for (const auto& annotation : recording->report->Take(stages::StageReport::Which::kAll)) {
    if (annotation.label == "lost") named += annotation.sample_count;
    if (annotation.label != "signal") continue;
    ++marks;
    EXPECT_THAT(annotation.comment, testing::StartsWith(tuned[annotation.sample_start]));
  }
  EXPECT_EQ(marks, 100u);
  EXPECT_EQ(named, lost);
}

TEST_P(IngestTest, ManyJobsLeaveNothingBehind) {
  for (int i = 0; i < 20; ++i) {
    Listen({});
    Signal signal;
    recording_.source->SetWaker(signal.waker());
    recording_ = {};
  }
}

TAPEDECK_ON_EVERY_DEVICE(IngestTest);

}  // namespace
}  // namespace tapedeck::gpu_worker
