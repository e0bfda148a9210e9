// Captures of packets of VITA 49 as tools and devices in the field make them: each row says what is
// right for one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "services/formats/vita49/vita49.h"
#include "tests/services/formats/generated.h"
#include "tests/services/formats/ramp.h"
#include "tests/services/noted.h"
#include "tests/shared_data.h"

namespace tapedeck::services::formats {
namespace {

using testing::HasSubstr;

constexpr int64_t kFieldSecond = 1'704'164'645;
constexpr int64_t kSecondNs = 1'000'000'000;
// Of the first packet with samples, which comes behind a context.
constexpr int64_t kCapturedNs = kFieldSecond * kSecondNs + 64'000;
constexpr uint64_t kFieldPackets = 40;
constexpr uint64_t kFieldBytes = kFieldPackets * 64 * 4;

struct CaptureRow {
  const char* name;
  std::vector<const char*> words = {};  // each a note (Noted); each in the refusal
  ReadOptions options = {};
  const char* datatype = "ci16_le";
  uint64_t bytes = kFieldBytes;
  model::SampleTime start_ns = kFieldSecond * kSecondNs;
  std::vector<SampleRange> gaps = {};
};

const ReadOptions kTold = {.datatype = "ci16_le", .sample_rate = 1e6};
constexpr char kStartIsCaptured[] = "START_BY_CAPTURE";

const CaptureRow kReadCaptures[] = {
    // Files.
    {"microseconds"},
    {"big_endian"},
    {"kuznetzov"},
    {.name = "after_2038", .start_ns = 2'147'483'653 * kSecondNs},
    {"ng_comments"},
    {"ng_nanoseconds"},
    {"ng_binary_fractions"},
    {"ng_two_interfaces"},
    {"ng_two_sections"},
    {"ng_big_endian"},
    {"ng_simple"},
    {.name = "cut", .words = {"CAPTURE_CUT"}, .bytes = kFieldBytes - 256},
    // Links.
    {"ipv6"},
    {"ipv6_options"},
    {"ip_options"},
    {"wrong_checksums"},
    {"ethernet_tail"},
    {"noise", {"PACKETS_NOT_UDP|packets=2", "PACKETS_UNSOUND|packets=2"}},
    // Streams.
    {"twice", {"PACKETS_LATE|packets=40"}},
    {.name = "late", .words = {"PACKETS_LATE|packets=1"}, .gaps = {{9 * 64, 64}}},
    {"two_devices", {"PACKETS_OTHER_SENDER|names=10.0.0.3 to 10.0.0.1:4991 (41)"}},
    {"two_ports", {"PACKETS_OTHER_SENDER|names=10.0.0.2 to 10.0.0.1:4992 (40)"}},
    {"context_to_another_port"},
    {.name = "many_streams",
     .words = {"PACKETS_OTHER_STREAM|packets=80"},
     .options = {.stream = 7}},
    {.name = "stream_changes",
     .words = {"PACKETS_OTHER_STREAM|packets=21"},
     .bytes = kFieldBytes / 2},
    {"context_last"},
    {.name = "no_stream", .options = kTold},
    {"extensions", {"PACKETS_OTHER_TYPE|packets=5"}},
    {"no_samples", {"PACKETS_UNSOUND|packets=1"}},
    {"half_samples", {"PACKETS_UNSOUND|packets=1"}},
    {"cut_inside", {"PACKETS_UNSOUND|packets=1"}},
    {"longer_than_told", {"PACKETS_UNSOUND|packets=1"}},
    // Times.
    {"sample_count"},
    {.name = "free_count", .words = {kStartIsCaptured}, .start_ns = kCapturedNs},
    {.name = "sample_count_alone", .words = {kStartIsCaptured}, .start_ns = kCapturedNs},
    {.name = "gps", .words = {kStartIsCaptured}, .start_ns = kCapturedNs},
    {.name = "since_power_up",
     .words = {"START_NOT_CAPTURE|start=1970-01-01T00:20:34Z"},
     .start_ns = 1234 * kSecondNs},
    {.name = "fraction_alone", .words = {kStartIsCaptured}, .start_ns = kCapturedNs},
    {.name = "zeros", .words = {"START_NOT_CAPTURE|start=1970-01-01T00:00:00Z"}, .start_ns = 0},
    {.name = "year_2106",
     .words = {"START_NOT_CAPTURE|start=2106-02-07T06:24:00Z"},
     .start_ns = ((int64_t{1} << 32) - 256) * kSecondNs},
    {"a_second_of_picoseconds"},
    {"no_count"},
    // Samples.
    {"difi"},
    {"trailers"},
    {.name = "jumbo", .bytes = kFieldPackets * 4000 * 4},
    {.name = "padding", .datatype = "ri16_le", .bytes = kFieldPackets * 66},
    {"padding_beyond", {"PACKETS_UNSOUND|packets=2"}},
    {"bits_12_in_16"},
    {.name = "vectors", .words = {"FORMAT_UNNAMED|format~in vectors of 2"}, .options = kTold},
    {.name = "real", .datatype = "ri16_le"},
    {.name = "floats", .datatype = "cf32_le"},
    {.name = "format_changes",
     .words = {"PACKETS_OTHER_SAMPLES|packets=20|datatype=ci16_le"},
     .bytes = kFieldBytes / 2},
    {.name = "format_that_is_none_follows",
     .words = {"PACKETS_OTHER_SAMPLES|packets=20|datatype=ci16_le"},
     .bytes = kFieldBytes / 2},
    {.name = "rate_0", .options = {.sample_rate = 1e6}},
    {.name = "no_rate", .options = {.sample_rate = 1e6}},
    {"more_fields"},
};

const CaptureRow kRefusedCaptures[] = {
    {"empty", {"is not a capture"}},
    {"head_alone", {"has no samples in packets of VITA 49.2"}},
    {"gzip", {"is compressed by gzip: unpack it first"}},
    {"erf", {"is not a capture"}},
    {"link_erf", {"on a link of kind ERF"}},
    {"huge_record", {"packet 6: "}},
    {"ng_two_links", {"packet 21: ", "type 113 different from the type of the first"}},
    {"tcp", {"41 packets carry no whole datagram of UDP"}},
    {"mpls", {"41 packets carry no whole datagram of UDP"}},
    {"gre", {"41 packets carry no whole datagram of UDP"}},
    {"pppoe", {"41 packets carry no whole datagram of UDP"}},
    {"vxlan", {"41 packets are not valid packets of VITA 49.2"}},
    {"rtp", {"41 packets are not valid packets of VITA 49.2"}},
    {"little_endian", {"41 packets are not valid packets of VITA 49.2"}},
    {"context_alone", {"has no samples in packets of VITA 49.2"}},
    {"no_stream", {"--datatype"}},
    {"no_times", {"its packets have no times"}},
    {"whole_seconds", {"its packets have no times"}},
    {"bits_12_in_12", {"of 12 bits in 12", "--datatype"}},
    {"vectors", {"in vectors of 2", "--datatype"}},
    {"repeats", {"each 4 times", "--datatype"}},
    {"polar", {"--datatype"}},
    {"spectra", {"40 packets hold spectra"}},
    {"rate_0", {"--sample-rate"}},
    {"rate_below_0", {"--sample-rate"}},
    {"no_rate", {"--sample-rate"}},
    {"attributes", {"no context of its stream says"}},
};

class CapturesFieldTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = ScratchPath("captures");
    Generate("captures.py", folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<std::unique_ptr<Reader>> Open(const CaptureRow& row) const {
    return OpenVita49(absl::StrCat(folder_, "/", row.name, ".pcap"), row.options);
  }

  std::string folder_;
};

// The ramp's bytes, as samples of that type are turned.
std::string BytesOf(const CaptureRow& row) {
  std::string bytes = Ramp(row.bytes / 4);
  if (absl::string_view(row.datatype) != "cf32_le") return bytes;
  for (size_t i = 0; i < bytes.size(); i += 4) std::rotate(&bytes[i], &bytes[i + 2], &bytes[i] + 4);
  return bytes;
}

TEST_F(CapturesFieldTest, IsRead) {
  for (const CaptureRow& row : kReadCaptures) {
    SCOPED_TRACE(row.name);
    const auto reader = Open(row);
    EXPECT_TRUE(reader.ok()) << reader.status();
    if (!reader.ok()) continue;
    const Content& content = (*reader)->content();
    EXPECT_EQ(content.datatype, row.datatype);
    EXPECT_EQ(content.sample_rate, absl::string_view(row.name) == "real" ? 2e6 : 1e6);
    EXPECT_EQ(content.start_ns, row.start_ns);
    EXPECT_EQ(content.bytes, row.bytes);
    EXPECT_THAT(content.gaps, testing::ElementsAreArray(row.gaps));
    std::string expected = BytesOf(row);
    for (const SampleRange& gap : row.gaps) {
      expected.replace(gap.first * 4, gap.count * 4, gap.count * 4, '\0');
    }
    EXPECT_TRUE(*ReadAll(**reader) == expected);
    EXPECT_THAT(content.notes, testing::UnorderedElementsAreArray(NotedEach(row.words)));
  }
}

TEST_F(CapturesFieldTest, IsRefusedWithTheReason) {
  for (const CaptureRow& row : kRefusedCaptures) {
    const std::string refusal = RefusalOf(Open(row));
    for (const char* words : row.words) EXPECT_THAT(refusal, HasSubstr(words)) << row.name;
  }
}

// In every header: what is whole before the cut is read, or the file is refused by its name.
TEST_F(CapturesFieldTest, EachCutIsReadOrNamed) {
  const std::string path = folder_ + "/part.pcap";
  for (const char* name : {"ng_comments", "ng_two_interfaces", "kuznetzov"}) {
    WriteFile(path, ReadFile(absl::StrCat(folder_, "/", name, ".pcap")));
    for (size_t bytes = 1200; bytes > 3; bytes -= 3) {
      std::filesystem::resize_file(path, bytes);
      const auto reader = OpenVita49(path);
      if (reader.ok()) {
        ASSERT_TRUE(Ramp(kFieldBytes / 4).starts_with(*ReadAll(**reader))) << name << ' ' << bytes;
      } else {
        ASSERT_THAT(RefusalOf(reader), HasSubstr(path)) << name << ' ' << bytes;
      }
    }
  }
}

}  // namespace
}  // namespace tapedeck::services::formats
