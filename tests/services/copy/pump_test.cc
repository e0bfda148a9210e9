// Blocks come in their order, and each with what belongs to it, or the pump ends.
#include "services/copy/pump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dataplane/reason.h"

namespace tapedeck::services::copying {
namespace {

using dataplane::Block;
using dataplane::BlockHeader;
using testing::ElementsAre;
using testing::HasSubstr;

class Slots final : public dataplane::SlotOwner {
 public:
  void ReturnSlot(uint32_t slot) override { returned.push_back(slot); }
  std::vector<uint32_t> returned;
};

class PumpTest : public testing::Test {
 protected:
  Block BlockOf(uint32_t slot, std::string& memory) const {
    return {slots_, slot, std::as_writable_bytes(std::span(memory))};
  }

  // Of a recording of 8 blocks those from the sixth on, given with these numbers.
  absl::Status Pump(std::vector<uint64_t> sequences) {
    Pace pace([this](uint64_t done) {
      done_ = done;
      return std::optional<uint64_t>(0);
    });
    auto next = sequences.begin();
    return PumpBlocks(
        {.recording = "a", .first = 5, .end = 8},
        [&]() -> absl::StatusOr<std::optional<Block>> {
          if (next == sequences.end()) return std::nullopt;
          Block block = BlockOf(static_cast<uint32_t>(*next), memory_);
          block.header() = {.sequence = *next++, .payload_bytes = 4};
          return block;
        },
        [&](const Block& block) {
          taken_.push_back(block.header().sequence);
          return taken_.size() < most_ ? absl::OkStatus() : absl::UnavailableError("full");
        },
        pace);
  }

  const std::shared_ptr<Slots> slots_ = std::make_shared<Slots>();
  std::string memory_ = "abcd";
  std::vector<uint64_t> taken_;
  size_t most_ = 100;
  uint64_t done_ = 0;
};

TEST_F(PumpTest, NumbersBlocksAsTheRecordingDoes) {
  EXPECT_TRUE(Pump({0, 1, 2}).ok());
  EXPECT_THAT(taken_, ElementsAre(5, 6, 7));
  EXPECT_THAT(slots_->returned, ElementsAre(0, 1, 2));
  EXPECT_EQ(done_, 12u);
}

TEST_F(PumpTest, TakesNoOtherBlockForTheNext) {
  for (const std::vector<uint64_t>& given : {std::vector<uint64_t>{0, 2}, {0, 0}, {0}}) {
    taken_.clear();
    const absl::Status status = Pump(given);
    EXPECT_EQ(dataplane::ReasonOf(status)->reason, "BLOCK_DAMAGED");
    EXPECT_THAT(std::string(status.message()), HasSubstr("block 6 did not come"));
    EXPECT_THAT(taken_, ElementsAre(5));
  }
}

TEST_F(PumpTest, EndsWithWhatTakingFailsWith) {
  most_ = 2;
  EXPECT_TRUE(absl::IsUnavailable(Pump({0, 1, 2})));
  EXPECT_THAT(taken_, ElementsAre(5, 6));
}

TEST_F(PumpTest, CopiesABlockWithItsCrc) {
  Block read = BlockOf(1, memory_);
  const BlockHeader header{.sequence = 7,
                           .sample_index = 70,
                           .capture_ns = 700,
                           .payload_bytes = 3,
                           .crc32c = 9,
                           .flags = dataplane::kBlockPartial};
  read.header() = header;
  std::string to = "....";
  Block slot = CopyInto(BlockOf(2, to), std::move(read));
  EXPECT_EQ(slot.header(), header);
  EXPECT_EQ(to, "abc.");
  EXPECT_THAT(slots_->returned, ElementsAre(1));
  slot.header().flags = dataplane::kBlockMissing;
  memory_ = "efgh";
  std::string none = "....";
  EXPECT_TRUE(IsMissing(CopyInto(BlockOf(3, none), std::move(slot)).header()));
  EXPECT_EQ(none, "....") << "there is nothing in it to be copied";
}

}  // namespace
}  // namespace tapedeck::services::copying
