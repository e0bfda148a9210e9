// Threads in the place of kernels fill slots of one channel, and one in the place of the CPU's end
// takes them in order. This file needs nothing but GoogleTest, so that it can be compiled alone,
// also with -std=c++17 -fsanitize=thread.
#include "gpu_worker/sockets/channel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace tapedeck::gpu_worker::sockets {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr uint64_t kStep = 128;

// A channel with its memory. The CPU's end is Take.
class OneChannel {
 public:
  OneChannel(uint64_t slots, uint64_t block_bytes, bool beside)
      : slot_bytes_((block_bytes + 15) / 16 * 16),
        words_(slots * kStep / sizeof(uint64_t)),
        turns_(slots),
        ring_(slots * slot_bytes_ / sizeof(crc::Word)),
        memory_(beside ? ring_.size() : 0) {
    auto* const ring = reinterpret_cast<unsigned char*>(ring_.data());
    for (uint32_t i = 0; i < 4 * 256; ++i) {
      own_->by_lane.of[i / 256][i % 256] = crc::FactorEntry(crc::Shift(4), i);
    }
    channel_ = {.words = reinterpret_cast<unsigned char*>(words_.data()),
                .state = &state_,
                .own = own_.get(),
                .turns = turns_.data(),
                .memory = beside ? reinterpret_cast<unsigned char*>(memory_.data()) : ring,
                .ring = ring,
                .words_step = kStep,
                .slot_bytes = slot_bytes_,
                .block_bytes = block_bytes,
                .sample_bytes = 4,
                .slots = slots};
  }

  const Channel& channel() const { return channel_; }
  void End(uint32_t error) { StoreRelease(&state_, error); }

  // Block `number` if it is there: its bytes, and whether its CRC32C is right.
  struct Taken {
    uint64_t bytes = 0;
    bool right = false;
    uint32_t first_word = 0;
  };
  Taken Take(uint64_t number) {
    const uint64_t slot = number % channel_.slots;
    SlotWords& words = WordsOf(channel_, slot);
    const uint64_t flag = LoadAcquire(&words.flag);
    if (flag == 0) return {};
    const unsigned char* const at = channel_.ring + slot * slot_bytes_;
    Taken taken{.bytes = flag - 1, .right = words.crc == ~crc::Consume(~0u, at, flag - 1)};
    std::memcpy(&taken.first_word, at, sizeof taken.first_word);
    StoreRelease(&words.flag, uint64_t{0});
    return taken;
  }

 private:
  const uint64_t slot_bytes_;
  std::vector<uint64_t> words_;
  std::vector<uint64_t> turns_;
  std::vector<crc::Word> ring_;
  std::vector<crc::Word> memory_;
  std::unique_ptr<ChannelOwn> own_ = std::make_unique<ChannelOwn>();
  uint32_t state_ = 0;
  Channel channel_{};
};

void Fill(const Channel& channel, void* data, int64_t block) {
  for (uint64_t i = 0; i < channel.block_bytes / 4; ++i) {
    const uint32_t word = static_cast<uint32_t>(block) + static_cast<uint32_t>(i) * 2654435761u;
    std::memcpy(static_cast<unsigned char*>(data) + 4 * i, &word, sizeof word);
  }
}

// Blocks until the channel ends; how many.
int64_t FillAll(const Channel& channel, uint64_t blocks, uint64_t last_bytes) {
  int64_t made = 0;
  while (true) {
    void* data = nullptr;
    const int64_t block = gacquire(channel, &data, 20 * kSecond);
    if (block < 0 || block >= static_cast<int64_t>(blocks)) return made;
    Fill(channel, data, block);
    const bool last = block + 1 == static_cast<int64_t>(blocks);
    if (gcommit(channel, block, last ? last_bytes : channel.block_bytes) == block) ++made;
    if (last) gend(channel);
  }
}

void ManyFillOneTakes(bool beside) {
  constexpr uint64_t kBlocks = 2000;
  constexpr uint64_t kBytes = 244;  // runs of 64, and what is left
  OneChannel one(4, kBytes, beside);
  std::vector<int64_t> made(3);
  std::vector<std::thread> threads;
  for (int64_t& count : made) {
    threads.emplace_back([&] { count = FillAll(one.channel(), kBlocks, 8); });
  }
  for (uint64_t number = 0; number < kBlocks;) {
    const OneChannel::Taken taken = one.Take(number);
    if (taken.bytes == 0) continue;
    EXPECT_EQ(taken.bytes, number + 1 == kBlocks ? 8 : kBytes);
    EXPECT_TRUE(taken.right) << number;
    EXPECT_EQ(taken.first_word, number);
    ++number;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made[0] + made[1] + made[2], static_cast<int64_t>(kBlocks));
}

TEST(ChannelTest, ManyFillAndOneTakesInOrder) { ManyFillOneTakes(/*beside=*/true); }
TEST(ChannelTest, InTheRingItself) { ManyFillOneTakes(/*beside=*/false); }

TEST(ChannelTest, EachSizeHasItsCrc) {
  for (uint64_t bytes = 4; bytes <= 1024; bytes += 4) {
    OneChannel one(2, bytes, /*beside=*/true);
    void* data = nullptr;
    ASSERT_EQ(gacquire(one.channel(), &data, 0), 0);
    Fill(one.channel(), data, 7);
    ASSERT_EQ(gcommit(one.channel(), 0, bytes), 0);
    EXPECT_TRUE(one.Take(0).right) << bytes;
  }
}

TEST(ChannelTest, OnlyTheLastBlockIsShorter) {
  OneChannel one(8, 256, /*beside=*/true);
  void* data = nullptr;
  for (int64_t i = 0; i < 5; ++i) ASSERT_EQ(gacquire(one.channel(), &data, 0), i);
  EXPECT_EQ(gcommit(one.channel(), 2, 256), 2);
  EXPECT_EQ(gcommit(one.channel(), 1, 4), -EINVAL) << "one behind it was committed";
  EXPECT_EQ(gcommit(one.channel(), 3, 4), 3);
  EXPECT_EQ(gcommit(one.channel(), 4, 256), -EPIPE);
  EXPECT_EQ(gcommit(one.channel(), 0, 256), 0) << "those before the last go on";
  EXPECT_EQ(gcommit(one.channel(), 1, 256), 1);
  EXPECT_EQ(gacquire(one.channel(), &data, 0), -EPIPE);
}

TEST(ChannelTest, TheCpusEndIsToldToWhoWaits) {
  OneChannel one(1, 256, /*beside=*/true);
  void* data = nullptr;
  ASSERT_EQ(gacquire(one.channel(), &data, 0), 0);
  EXPECT_EQ(gacquire(one.channel(), &data, 0), -EAGAIN);
  std::thread waits([&] {
    void* mine = nullptr;
    EXPECT_EQ(gacquire(one.channel(), &mine, 20 * kSecond), -ECONNRESET);
  });
  one.End(ECONNRESET);
  waits.join();
  EXPECT_EQ(gcommit(one.channel(), 0, 256), -ECONNRESET);
}

}  // namespace
}  // namespace tapedeck::gpu_worker::sockets
