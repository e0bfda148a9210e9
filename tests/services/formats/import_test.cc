// Files become blocks; what they say is missing is missing as a whole, or named.
#include "services/formats/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/services/formats/feed.h"

namespace tapedeck::services::formats {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

class Given final : public Reader {
 public:
  explicit Given(Content content) : content_(std::move(content)) {}
  const Content& content() const override { return content_; }
  absl::Status Read(uint64_t offset, std::span<std::byte> into) override {
    read_.push_back(offset);
    std::ranges::fill(into, std::byte{1});
    return absl::OkStatus();
  }
  std::vector<uint64_t> read_;

 private:
  const Content content_;
};

Channel ChannelOf(const std::string& datatype) {
  return {.name = "luns/l/channels/c",
          .block_bytes = kBlockBytes,
          .datatype = datatype,
          .sample_rate = 1024};
}

struct Recorded {
  std::vector<dataplane::BlockHeader> headers;
  std::string memory = std::string(kBlockBytes, '\0');
};

absl::Status Bring(Given& reader, const Channel& channel, Recorded& recorded,
                   model::SampleTime start_ns = 5) {
  return Import(
      {.reader = &reader,
       .channel = channel,
       .start_ns = start_ns,
       .slot =
           [&] {
             return absl::StatusOr<dataplane::Block>(
                 dataplane::Block(std::make_shared<NoSlots>(), 0,
                                  std::as_writable_bytes(std::span(recorded.memory))));
           },
       .give = [&](const dataplane::Block& block) { recorded.headers.push_back(block.header()); },
       .progress = [](uint64_t) { return true; }});
}

TEST(ImportTest, BlocksAreAsTheFileIs) {
  Given reader({.bytes = 4 * kBlockBytes + 10, .gaps = {{1024, 2100}}});
  const Channel channel = ChannelOf("ci16_le");
  Recorded recorded;
  ASSERT_TRUE(Bring(reader, channel, recorded).ok());
  ASSERT_EQ(recorded.headers.size(), 5u);
  EXPECT_EQ(BlocksOf(reader.content(), channel), 5u);
  EXPECT_THAT(reader.read_, ElementsAre(0, 3 * kBlockBytes, 4 * kBlockBytes));
  EXPECT_EQ(recorded.headers[1].flags, dataplane::kBlockMissing);
  EXPECT_EQ(recorded.headers[1].payload_bytes, 0u);
  EXPECT_EQ(recorded.headers[3].sample_index, 3 * 1024u);
  EXPECT_EQ(recorded.headers[3].capture_ns, 3'000'000'005);
  EXPECT_EQ(recorded.headers[4].flags, dataplane::kBlockPartial);
  EXPECT_EQ(recorded.headers[4].payload_bytes, 10u);
  const auto lost = LostWithinBlocks(reader.content(), channel);
  EXPECT_THAT(
      lost, ElementsAre(Annotation{.sample_start = 3 * 1024, .sample_count = 52, .label = "lost"}));
}

TEST(ImportTest, AnUnknownStartStaysUnknown) {
  Given reader({.bytes = 2 * kBlockBytes});
  Recorded recorded;
  ASSERT_TRUE(Bring(reader, ChannelOf("ci16_le"), recorded, std::nullopt).ok());
  ASSERT_EQ(recorded.headers.size(), 2u);
  EXPECT_EQ(recorded.headers[0].capture_ns, dataplane::kTimeUnknown);
  EXPECT_EQ(recorded.headers[1].capture_ns, dataplane::kTimeUnknown);
}

TEST(ImportTest, AnotherTypeIsRefused) {
  const Channel channel = ChannelOf("cu8");
  EXPECT_TRUE(CheckCompatible("f", {.bytes = 1}, channel).ok());
  EXPECT_TRUE(CheckCompatible("f", {.datatype = "cu8", .bytes = 1}, channel).ok());
  EXPECT_EQ(ReasonIn(CheckCompatible("f", {.datatype = "ci8", .bytes = 1}, channel)),
            "FILE_INVALID");
  EXPECT_EQ(ReasonIn(CheckCompatible("f", {.datatype = "cu8"}, channel)), "FILE_INVALID");
  EXPECT_TRUE(CheckCompatible("f", {.sample_rate = 1024.0001, .bytes = 1}, channel).ok());
  const absl::Status rate = CheckCompatible("f", {.sample_rate = 2048.5, .bytes = 1}, channel);
  EXPECT_EQ(ReasonIn(rate), "FILE_INVALID");
  EXPECT_EQ(rate.message(),
            "f has 2048.5 samples a second, the channel has 1024; --sample-rate 1024 takes its "
            "samples as the channel's");
}

TEST(ImportTest, ARefusalSaysWhoToldWhatDoesNotFit) {
  const Channel channel = ChannelOf("ci16_be");
  const Content content{.datatype = "ci16_le", .sample_rate = 2048.5, .bytes = 1};
  EXPECT_EQ(CheckCompatible("f", content, channel).message(),
            "f holds ci16_le, the channel holds ci16_be; import it into a channel of ci16_le; "
            "tapectl channel create --datatype ci16_le makes one");
  const absl::Status type = CheckCompatible("f", content, channel, {.datatype = "ci16_le"});
  EXPECT_EQ(ReasonIn(type), "ARGUMENT_INVALID");
  EXPECT_THAT(std::string(type.message()),
              StartsWith("--datatype says ci16_le, the channel holds ci16_be; "));
  const Content rated{.sample_rate = 2048.5, .bytes = 1};
  const absl::Status rate = CheckCompatible("f", rated, channel, {.sample_rate = 2048.5});
  EXPECT_EQ(ReasonIn(rate), "ARGUMENT_INVALID");
  EXPECT_EQ(rate.message(),
            "--sample-rate says 2048.5 samples a second, the channel has 1024; --sample-rate 1024 "
            "takes its samples as the channel's");
}

}  // namespace
}  // namespace tapedeck::services::formats
