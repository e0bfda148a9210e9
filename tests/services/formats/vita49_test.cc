// Packets of VITA 49.2 in captures: recordings go out and come in again, and strangers' files.
#include "services/formats/vita49/vita49.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "services/formats/io/riff.h"
#include "services/formats/vita49/pcap.h"
#include "services/signal/vita49/packet.h"
#include "tests/services/formats/feed.h"
#include "tests/services/noted.h"

namespace tapedeck::services::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr size_t kFewBytes =
    600;  // a context and three packets, where each byte of a file is tried
constexpr uint64_t kSecond = 1'700'000'000;

absl::StatusOr<std::string> ExportTo(const std::string& path, const Recording& recording,
                                     Feed feed) {
  ExportRequest request = RequestFor("vita49-pcap", path, feed);
  request.packet_samples = 64;
  const auto exported = Export(*SubjectOf(recording, {}), request);
  if (!exported.ok()) return exported.status();
  return ReadFile(path);
}

// A capture that is made packet by packet, of 4 samples of ci16 each, at 1 MS/s.
class Capture {
 public:
  Capture() : text_(PcapHead()) {}

  Capture& Context(uint32_t stream, uint64_t sample, double hertz) {
    return Put(
        vita49::Encode(vita49::ContextPacket{.stream = stream,
                                             .time = At(sample),
                                             .context = {.frequency_hz = hertz, .sample_rate = 1e6},
                                             .format = {.complex = true,
                                                        .kind = dataplane::Datatype::Kind::kInt,
                                                        .bits = 16,
                                                        .big_endian = true}}));
  }

  Capture& Data(uint32_t stream, uint64_t sample) {
    std::string samples;
    for (int i = 0; i < 8; ++i) {
      samples += {static_cast<char>(sample), static_cast<char>(i)};  // high byte, low byte
    }
    const auto head = vita49::Encode(
        vita49::DataHeader{.stream = stream, .time = At(sample), .samples_bytes = samples.size()});
    std::vector<std::byte> packet(head.begin(), head.end());
    for (const char c : samples) packet.push_back(static_cast<std::byte>(c));
    return Put(packet);
  }

  Capture& Put(std::span<const std::byte> datagram) {
    AppendDatagram({.time_ns = kSecond * 1'000'000'000, .port = 4991, .bytes = datagram}, &text_);
    return *this;
  }

  absl::StatusOr<std::unique_ptr<Reader>> Open(const std::string& name) const {
    const std::string path = ScratchPath(name);
    WriteFile(path, text_);
    return OpenVita49(path);
  }

 private:
  static vita49::Time At(uint64_t sample) {
    return {.has_seconds = true,
            .seconds = kSecond,
            .kind = vita49::Fraction::kPicoseconds,
            .fraction = sample * 1'000'000};
  }

  std::string text_;
};

// The samples that Capture::Data has, as they come in.
std::string SamplesAt(uint64_t sample) {
  std::string text;
  for (int i = 0; i < 8; ++i) text += {static_cast<char>(i), static_cast<char>(sample)};
  return text;
}

TEST(Vita49Test, EveryTypeComesBackAsItWas) {
  for (const char* datatype : {"ru8", "cu8", "ci8", "ri16_le", "ci16_le", "cu16_le", "ri32_le",
                               "cu32_le", "rf32_le", "cf32_le", "cf64_le"}) {
    const std::string samples = Samples(2 * kBlockBytes + 48);
    const Recording recording = RecordingOf(samples, datatype);
    const std::string path = ScratchPath(std::string(datatype) + ".pcap");
    ASSERT_TRUE(ExportTo(path, recording, {.samples = samples}).ok());
    const auto reader = OpenVita49(path);
    ASSERT_TRUE(reader.ok()) << reader.status();
    const Content& content = (*reader)->content();
    EXPECT_EQ(content.datatype, datatype);
    EXPECT_EQ(content.sample_rate, 1e6);
    EXPECT_THAT(content.gaps, ElementsAre());
    EXPECT_THAT(content.notes, ElementsAre());
    EXPECT_EQ(*ReadAll(**reader), samples);
    EXPECT_EQ(*ReadAll(**reader), samples) << "once more";
  }
}

// An annotation may tell the frequency alone, or the rate before a transform.
TEST(Vita49Test, ContextsHaveTheRateOfTheRecording) {
  const std::string samples = Samples(kBlockBytes);
  for (const std::string told : {"", " sample_rate=2000000"}) {
    Recording recording = RecordingOf(samples, "ci16_le");
    recording.annotations = {
        {.sample_start = 1000, .label = "signal", .comment = "frequency=433920000" + told}};
    const std::string path = ScratchPath("frequency.pcap");
    ASSERT_TRUE(ExportTo(path, recording, {.samples = samples, .sample_bytes = 4}).ok());
    const auto reader = OpenVita49(path);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->content().sample_rate, 1e6);
    EXPECT_THAT((*reader)->content().annotations,
                ElementsAre(Annotation{.label = "signal",
                                       .comment = "frequency=433920000 sample_rate=1000000"}));
    EXPECT_EQ(*ReadAll(**reader), samples);
    std::filesystem::remove(path);
  }
}

TEST(Vita49Test, BigEndianSamplesComeInAsLittleEndianOnes) {
  const std::string samples = Samples(kBlockBytes);
  const std::string path = ScratchPath("be.pcap");
  ASSERT_TRUE(ExportTo(path, RecordingOf(samples, "ri16_be"), {.samples = samples}).ok());
  const auto reader = OpenVita49(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->content().datatype, "ri16_le");
  std::string swapped = *ReadAll(**reader);
  for (size_t i = 0; i < swapped.size(); i += 2) std::swap(swapped[i], swapped[i + 1]);
  EXPECT_EQ(swapped, samples);
}

// The seconds of a packet have 32 bits. Whatever does not fit is refused before there is a file.
TEST(Vita49Test, TimesThatNoPacketHasAreRefused) {
  constexpr int64_t kEndNs = (int64_t{1} << 32) * 1'000'000'000;
  const std::string samples = Samples(2 * kBlockBytes);  // 2048 us
  const std::string path = ScratchPath("beyond.pcap");
  for (const int64_t start_ns : {int64_t{-1}, -3'600'000'000'000, kEndNs, kEndNs - 2'047'000}) {
    Recording recording = RecordingOf(samples, "ci16_le");
    recording.start_time_ns = start_ns;
    const auto exported = ExportTo(path, recording, {.samples = samples});
    EXPECT_EQ(ReasonIn(exported.status()), "ARGUMENT_INVALID") << start_ns;
    EXPECT_THAT(std::string(exported.status().message()),
                HasSubstr("from 1970-01-01T00:00:00Z to 2106-02-07T06:28:15Z, and these samples"));
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(path).parent_path()));
  }
  for (const int64_t start_ns : {int64_t{0}, kEndNs - 2'048'000}) {
    Recording recording = RecordingOf(samples, "ci16_le");
    recording.start_time_ns = start_ns;
    ASSERT_TRUE(ExportTo(path, recording, {.samples = samples}).ok()) << start_ns;
    EXPECT_EQ((*OpenVita49(path))->content().start_ns, start_ns);
    std::filesystem::remove(path);
  }
  Recording undated = RecordingOf(samples, "ci16_le");
  undated.start_time_ns = std::nullopt;
  EXPECT_TRUE(ExportTo(path, undated, {.samples = samples}).ok());
}

TEST(Vita49Test, WhatIsMissingIsAGap) {
  std::string samples = Samples(4 * kBlockBytes);
  const std::string path = ScratchPath("gap.pcap");
  ASSERT_TRUE(
      ExportTo(path, RecordingOf(samples, "cu8", 1), {.samples = samples, .missing = {2}}).ok());
  const auto reader = OpenVita49(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  constexpr uint64_t kBlockSamples = kBlockBytes / 2;
  EXPECT_THAT((*reader)->content().gaps,
              ElementsAre(SampleRange{.first = 2 * kBlockSamples, .count = kBlockSamples}));
  samples.replace(2 * kBlockBytes, kBlockBytes, kBlockBytes, '\0');
  EXPECT_EQ(*ReadAll(**reader), samples);
}

// Those of a block that is missing are no lost ones.
TEST(Vita49Test, WhatIsLostIsCountedBesideWhatIsMissing) {
  const std::string samples = Samples(4 * kBlockBytes);
  Recording recording = RecordingOf(samples, "ci16_le", 1);
  recording.annotations = {{.sample_start = 1100, .sample_count = 7, .label = "lost"},
                           {.sample_start = 1000 + 2000, .sample_count = 60, .label = "lost"}};
  Feed feed{.samples = samples, .missing = {2}, .sample_bytes = 4};
  ExportRequest request = RequestFor("vita49-pcap", ScratchPath("lost.pcap"), feed);
  const auto exported = Export(*SubjectOf(recording, {}), request);
  ASSERT_TRUE(exported.ok()) << exported.status();
  constexpr uint64_t kBlockSamples = kBlockBytes / 4;
  EXPECT_EQ(exported->missing_samples, kBlockSamples);
  EXPECT_EQ(exported->lost_samples, 7 + (2 * kBlockSamples - 2000));
}

TEST(Vita49Test, LossesRetunesAndStrangersAmongPackets) {
  const auto reader = Capture()
                          .Data(7, 0)
                          .Context(9, 0, 1e6)
                          .Context(7, 0, 100e6)
                          .Data(9, 4)
                          .Data(7, 4)
                          .Context(7, 8, 100e6)
                          .Context(7, 12, 200e6)
                          .Data(7, 12)
                          .Data(7, 4)
                          .Put({})
                          .Open("strange.pcap");
  ASSERT_TRUE(reader.ok()) << reader.status();
  const Content& content = (*reader)->content();
  EXPECT_EQ(content.datatype, "ci16_le");
  EXPECT_EQ(content.start_ns, static_cast<int64_t>(kSecond) * 1'000'000'000);
  EXPECT_THAT(content.gaps, ElementsAre(SampleRange{.first = 8, .count = 4}));
  EXPECT_THAT(content.annotations,
              ElementsAre(Annotation{.label = "signal",
                                     .comment = "frequency=100000000 sample_rate=1000000"},
                          Annotation{.sample_start = 12,
                                     .label = "signal",
                                     .comment = "frequency=200000000 sample_rate=1000000"}));
  EXPECT_THAT(content.notes, ElementsAre(Noted("PACKETS_UNSOUND|packets=1"),
                                         Noted("PACKETS_OTHER_STREAM|packets=2"),
                                         Noted("PACKETS_LATE|packets=1")));
  EXPECT_EQ(*ReadAll(**reader),
            SamplesAt(0) + SamplesAt(4) + std::string(16, '\0') + SamplesAt(12));
}

TEST(Vita49Test, WhatCannotBePlacedIsRefused) {
  EXPECT_EQ(ReasonIn(Capture().Open("empty.pcap").status()), "FILE_INVALID");
  const auto untold = Capture().Data(7, 0).Context(8, 0, 1e6).Open("untold.pcap").status();
  EXPECT_EQ(ReasonIn(untold), "FILE_INVALID");
  EXPECT_THAT(std::string(untold.message()), HasSubstr("no context of its stream"));
  const auto head = vita49::Encode(vita49::DataHeader{
      .stream = 7,
      .time = {.has_seconds = true, .seconds = kSecond, .kind = vita49::Fraction::kPicoseconds},
      .samples_bytes = 2});
  std::vector<std::byte> half(head.begin(), head.end());
  half.resize(half.size() + 4);
  const auto halves = Capture().Context(7, 0, 1e6).Put(half).Open("half.pcap").status();
  EXPECT_THAT(std::string(halves.message()),
              HasSubstr("no packet with whole samples of ci16_le: 1 packets are no"));
  EXPECT_EQ(ReasonIn(OpenVita49(ScratchPath("none.pcap")).status()), "FILE_NOT_FOUND");
}

// One before the first packet with samples is refused; one behind it leaves the packets that are
// whole, and is noted unless it lies between two.
TEST(Vita49Test, EachCutIsNamed) {
  const std::string samples = Samples(kFewBytes);
  const auto file =
      ExportTo(ScratchPath("whole.pcap"), RecordingOf(samples, "cf32_le"), {.samples = samples});
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string path = ScratchPath("cut.pcap");
  size_t whole = kPcapHeadBytes;
  size_t read = 0;
  for (size_t bytes = 0; bytes < file->size(); ++bytes) {
    if (bytes > whole) whole += kPcapRecordBytes + NumberAt(*file, whole + 8, 4);
    WriteFile(path, file->substr(0, bytes));
    const auto reader = OpenVita49(path);
    if (reader.ok()) {
      ++read;
      ASSERT_EQ(samples.find(*ReadAll(**reader)), 0u) << bytes << " bytes";
      ASSERT_EQ((*reader)->content().notes.empty(), bytes == whole) << bytes << " bytes";
    } else {
      ASSERT_EQ(ReasonIn(reader.status()), "FILE_INVALID") << bytes << " bytes";
    }
  }
  EXPECT_GT(read, 0u);
}

// Whatever its bytes are, a capture is read or refused.
TEST(Vita49Test, DamagedCapturesAreReadOrRefused) {
  const std::string samples = Samples(kFewBytes);
  const auto file =
      ExportTo(ScratchPath("sound.pcap"), RecordingOf(samples, "ci16_le"), {.samples = samples});
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string path = ScratchPath("damaged.pcap");
  for (size_t at = 0; at < file->size(); ++at) {
    for (const char bits : {'\x01', '\xff'}) {
      std::string damaged = *file;
      damaged[at] = static_cast<char>(damaged[at] ^ bits);
      WriteFile(path, damaged);
      const auto reader = OpenVita49(path);
      if (!reader.ok()) {
        ASSERT_EQ(ReasonIn(reader.status()), "FILE_INVALID") << at;
      } else if ((*reader)->content().bytes < (1 << 20)) {
        EXPECT_TRUE(ReadAll(**reader).ok()) << at;
      }
    }
  }
}

}  // namespace
}  // namespace tapedeck::services::formats
