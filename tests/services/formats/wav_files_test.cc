// WAV files as programs for SDRs write them, whole and interrupted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "services/formats/io/riff.h"
#include "services/formats/wav/wav.h"
#include "tests/services/formats/ramp.h"
#include "tests/services/noted.h"

namespace tapedeck::services::formats {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kWavSamples = 10'000;
constexpr uint64_t kNoSize = 0xffffffff;

std::string Number(uint64_t value, int bytes) {
  std::string text;
  AppendNumber(&text, value, bytes);
  return text;
}

std::string ChunkOf(const std::string& name, const std::string& bytes) {
  return name + Number(bytes.size(), 4) + bytes + std::string(bytes.size() % 2, '\0');
}

// What a recorder says that does not know the size yet, or no more.
std::string ChunkOf(const std::string& name, const std::string& bytes, uint64_t told) {
  return name + Number(told, 4) + bytes;
}

std::string FormatChunk(uint64_t rate = 48'000) {
  return ChunkOf("fmt ", Number(1, 2) + Number(2, 2) + Number(rate, 4) + Number(rate * 4, 4) +
                             Number(4, 2) + Number(16, 2));
}

std::string Riff(const std::string& chunks, const std::string& form = "RIFF") {
  return form + Number(form == "RIFF" ? chunks.size() + 4 : kNoSize, 4) + "WAVE" + chunks;
}

absl::StatusOr<std::unique_ptr<Reader>> OpenWave(const std::string& file) {
  const std::string path = ScratchPath("a.wav");
  WriteFile(path, file);
  return OpenWav(path);
}

// All samples, and one note (Noted); none: no note.
void ExpectAll(const std::string& file, const std::string& note = "",
               uint64_t samples = kWavSamples) {
  const auto reader = OpenWave(file);
  ExpectRamp(reader, samples);
  if (!reader.ok()) return;
  if (note.empty()) {
    EXPECT_THAT((*reader)->content().notes, IsEmpty());
  } else {
    EXPECT_THAT((*reader)->content().notes, ElementsAre(Noted(note)));
  }
}

TEST(WavFilesTest, APlainOne) {
  ExpectAll(Riff(FormatChunk() + ChunkOf("data", Ramp(kWavSamples))));
}

TEST(WavFilesTest, SamplesInManyChunksFollowEachOther) {
  std::string kiwi = FormatChunk(12'001);
  for (uint64_t first = 0; first < kWavSamples; first += 500) {
    kiwi += ChunkOf("kiwi", std::string(10, 'k')) + ChunkOf("data", Ramp(500, first));
  }
  ExpectAll(Riff(kiwi), "LEFT_OUT|what=chunks|names=\"kiwi\" (20)");
  const std::string path = ScratchPath("a.wav");
  const auto reader = OpenWav(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (const uint64_t offset : {0, 4, 1998, 2000, 2001, 39'000}) {
    std::string part(1000, '\0');
    ASSERT_TRUE((*reader)->Read(offset, std::as_writable_bytes(std::span(part))).ok());
    EXPECT_TRUE(part == Ramp(kWavSamples).substr(offset, 1000)) << offset;
  }
  ExpectAll(Riff(FormatChunk() + ChunkOf("data", Ramp(6000)) + ChunkOf("data", Ramp(4000, 6000))));
}

TEST(WavFilesTest, TimeAndFrequencyFromXml) {
  const auto xml = [](const std::string& time, const std::string& seconds) {
    return "<?xml version=\"1.0\"?>\r\n<SDR-XML-Root Created=\"20-Jan-2020 01:50\"><Definition "
           "CurrentTimeUTC=\"" +
           time + "\" RadioCenterFreq=\"162550000\" UTCSeconds=\"" + seconds + "\"></Definition>";
  };
  const auto wide = [](const std::string& text) {
    std::string units;
    for (const char c : text) units += {c, '\0'};
    return units;
  };
  const std::string good = xml("20-01-2020 01:50:24", "1579485024");
  for (const std::string& auxi : {wide(good), "\xff\xfe" + wide(good), good}) {
    const std::string file =
        Riff(FormatChunk() + ChunkOf("auxi", auxi) + ChunkOf("data", Ramp(kWavSamples)));
    ExpectAll(file, "LEFT_OUT|what=auxi_fields|names=Created");
    const auto reader = OpenWave(file);
    EXPECT_EQ((*reader)->content().start_ns, 1'579'485'024'000'000'000);
    EXPECT_THAT((*reader)->content().annotations,
                ElementsAre(Annotation{.label = "signal", .comment = "frequency=162550000"}));
  }
  for (const auto& [auxi, note] :
       {std::pair(xml("20-01-2020 01:50:24", "5"),
                  "WAV_AUXI_FIELD|name=CurrentTimeUTC|cause=DIFFER"),
        std::pair(xml("20-13-2020 01:50:24", ""),
                  "WAV_AUXI_FIELD|name=CurrentTimeUTC|cause=UNREAD|value=20-13-2020 01:50:24")}) {
    const auto reader =
        OpenWave(Riff(FormatChunk() + ChunkOf("auxi", auxi) + ChunkOf("data", Ramp(kWavSamples))));
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->content().start_ns, std::nullopt);
    EXPECT_THAT((*reader)->content().notes, Contains(Noted(note)));
  }
}

TEST(WavFilesTest, TimeAndFrequencyFromNumbers) {
  std::string auxi;
  AppendSystemTime(&auxi, 1'704'164'645'678'000'000);
  AppendSystemTime(&auxi, 1'704'164'645'678'000'000);
  auxi += Number(100'000'000, 4) + Number(48'000, 4);
  auxi.resize(164, '\0');
  const auto file = [&](const std::string& chunk) {
    return Riff(FormatChunk() + ChunkOf("auxi", chunk) + ChunkOf("data", Ramp(kWavSamples)));
  };
  ExpectAll(file(auxi), "TIME_WITHOUT_ZONE");
  const auto reader = OpenWave(file(auxi));
  EXPECT_EQ((*reader)->content().start_ns, 1'704'164'645'678'000'000);
  EXPECT_THAT((*reader)->content().annotations,
              ElementsAre(Annotation{.label = "signal", .comment = "frequency=100000000"}));
  const auto brief = OpenWave(file(auxi.substr(0, 32)));
  EXPECT_THAT((*brief)->content().notes, Contains(Noted("WAV_AUXI_FIELD|cause=ABSENT")));
  ExpectAll(file(std::string(16, '\xff') + auxi.substr(16)), "WAV_AUXI_UNREAD|cause=UNKNOWN");
  ExpectAll(file(std::string(70'000, 'x')), "WAV_AUXI_UNREAD|cause=LONG");
}

TEST(WavFilesTest, InterruptedOnes) {
  const std::string ramp = Ramp(kWavSamples);
  const auto file = [&](uint64_t riff, uint64_t data) {
    return "RIFF" + Number(riff, 4) + "WAVE" + FormatChunk() + ChunkOf("data", ramp, data);
  };
  ExpectAll(file(0, 0), "WAV_SIZE_UNKNOWN|cause=NOT_ENDED");
  ExpectAll(file(36, 0), "WAV_SIZE_UNKNOWN|cause=NOT_ENDED");
  ExpectAll(file(kNoSize, kNoSize), "WAV_SIZE_UNKNOWN|cause=NOT_ENDED");
  ExpectAll(file(41'036, 41'000), "FILE_CUT|bytes=1000");
  ExpectAll(file(40'036, 40'000).substr(0, 20'044), "FILE_CUT|bytes=20000", 5000);
}

TEST(WavFilesTest, OddChunksAndWhatIsBehindThem) {
  const std::string data = ChunkOf("data", Ramp(kWavSamples));
  const std::string list = ChunkOf("LIST", "INFOx");
  ExpectAll(Riff(FormatChunk() + list.substr(0, list.size() - 1) + data),
            "LEFT_OUT|what=chunks|names=\"LIST\" (1)");
  ExpectAll(Riff(FormatChunk() + list + data), "LEFT_OUT|what=chunks|names=\"LIST\" (1)");
  ExpectAll(Riff(FormatChunk() + data) + std::string(3, '\0'), "BYTES_BEHIND|bytes=3");
  ExpectAll(Riff(FormatChunk() + data) + std::string(30, '\0'), "BYTES_BEHIND|bytes=30");
  ExpectAll(Riff(FormatChunk() + data + list.substr(0, 10)), "BYTES_BEHIND|bytes=10");
  ExpectAll(Riff(FormatChunk() + ChunkOf("data", Ramp(kWavSamples).substr(0, 39'998))),
            "PARTIAL_SAMPLE|bytes=2", 9999);
}

TEST(WavFilesTest, LargeForms) {
  const std::string ramp = Ramp(kWavSamples);
  const auto sizes = [&](uint64_t bytes) {
    return ChunkOf("ds64", Number(bytes, 8) + Number(bytes, 8) + Number(0, 12));
  };
  for (const char* form : {"RF64", "BW64"}) {
    const std::string rest = FormatChunk() + ChunkOf("data", ramp, kNoSize);
    ExpectAll(Riff(sizes(ramp.size()) + rest, form));
    ExpectAll(Riff(sizes(0) + rest, form), "WAV_SIZE_UNKNOWN|cause=NOT_ENDED");
    ExpectAll(Riff(rest, form), "WAV_SIZE_UNKNOWN|cause=NOT_ENDED");
  }
  const auto w64 = [](absl::string_view guid, const std::string& bytes) {
    return std::string(guid) + Number(24 + bytes.size(), 8) + bytes +
           std::string((8 - bytes.size() % 8) % 8, '\0');
  };
  constexpr absl::string_view kTail("\xf3\xac\xd3\x11\x8c\xd1\0\xc0\x4f\x8e\xdb\x8a", 12);
  const auto guid = [&](const std::string& name) { return name + std::string(kTail); };
  const std::string chunks = w64(guid("fmt "), FormatChunk().substr(8)) + w64(guid("data"), ramp);
  const std::string head("riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\0\0", 16);
  ExpectAll(head + Number(40 + chunks.size(), 8) + guid("wave") + chunks);
  ExpectAll(head + Number(40 + chunks.size(), 8) + guid("wave") + chunks.substr(0, 20'064),
            "FILE_CUT|bytes=20000", 5000);
}

// Of 4 GiB + 32 bytes, with a size that went round; the samples are a hole.
TEST(WavFilesTest, ASizeThatWentRound) {
  const std::string path = ScratchPath("round.wav");
  const uint64_t bytes = (uint64_t{1} << 32) + 32;
  WriteFile(path, Riff(FormatChunk() + ChunkOf("data", "", bytes)));
  std::filesystem::resize_file(path, 44 + bytes);
  const auto reader = OpenWav(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->content().bytes, bytes);
  EXPECT_THAT((*reader)->content().notes, ElementsAre(Noted("WAV_SIZE_UNKNOWN|cause=WRAPPED")));
}

TEST(WavFilesTest, WhatCannotBeReadIsNamed) {
  const std::string data = ChunkOf("data", Ramp(10));
  for (const auto& [file, words] :
       {std::pair(Riff(data), "has no chunk \"fmt \""),
        std::pair(Riff(FormatChunk()), "has no chunk \"data\""),
        std::pair(Riff(FormatChunk() + FormatChunk(44'100) + data), "that differ"),
        std::pair(Riff(FormatChunk() + std::string(20, '\0')), "has no chunk at byte 36"),
        std::pair(Riff(ChunkOf("ds64", "short"), "RF64"), "\"ds64\" is too short"),
        std::pair(Riff(ChunkOf("fmt ", "short")), "\"fmt \" is too short")}) {
    const auto status = OpenWave(file).status();
    EXPECT_EQ(ReasonIn(status), "FILE_INVALID");
    EXPECT_THAT(std::string(status.message()), HasSubstr(words));
  }
}

}  // namespace
}  // namespace tapedeck::services::formats
