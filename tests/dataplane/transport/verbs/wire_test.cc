// Control messages of the verbs transport: what is written is read, and nothing else is.

#include "dataplane/transport/verbs/wire.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace tapedeck::dataplane::verbs {
namespace {

constexpr MessageKind kKinds[] = {MessageKind::kHello,   MessageKind::kFullHello,
                                  MessageKind::kFrame,   MessageKind::kPayloadFrame,
                                  MessageKind::kCredits, MessageKind::kBye};

Message MessageOf(MessageKind kind) {
  Message message{.kind = kind, .credits = 0x89abcdef};
  if (kind == MessageKind::kPayloadFrame) message.payload_bytes = 1 << 20;
  message.frame = {.type = FrameType::kBlock, .slot = 3, .number = 4, .block = {.sequence = 5}};
  return message;
}

std::vector<std::byte> Encoded(const Message& message) {
  std::vector<std::byte> bytes(kHelloBytes);
  bytes.resize(EncodeMessage(message, bytes));
  return bytes;
}

TEST(VerbsWire, EveryKindIsReadAsWritten) {
  for (const MessageKind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    const Message message = MessageOf(kind);
    const std::vector<std::byte> bytes = Encoded(message);
    const absl::StatusOr<Message> read = DecodeMessage(bytes);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->kind, kind);
    EXPECT_EQ(read->credits, message.credits);
    EXPECT_EQ(read->payload_bytes, message.payload_bytes);
    if (bytes.size() == kFrameMessageBytes) {
      EXPECT_EQ(read->frame.slot, 3u);
      EXPECT_EQ(read->frame.block, message.frame.block);
    }
  }
}

TEST(VerbsWire, TheFullHelloIsLongerThanAnyPacket) {
  EXPECT_GT(Encoded(MessageOf(MessageKind::kFullHello)).size(), 4096u);
}

TEST(VerbsWire, EveryOtherLengthIsRefused) {
  for (const MessageKind kind : kKinds) {
    const std::vector<std::byte> bytes = Encoded(MessageOf(kind));
    for (size_t n = 0; n < bytes.size(); n += n < 200 ? 1 : 997) {
      EXPECT_FALSE(DecodeMessage(std::span(bytes).first(n)).ok()) << static_cast<int>(kind);
    }
    std::vector<std::byte> longer = bytes;
    longer.push_back({});
    EXPECT_EQ(DecodeMessage(longer).status().code(), absl::StatusCode::kDataLoss);
  }
}

// A flip may change the credits or the named payload, which their users check; never the frame.
TEST(VerbsWire, FlippedBitsOfAFrameAreFound) {
  const std::vector<std::byte> bytes = Encoded(MessageOf(MessageKind::kFrame));
  for (size_t bit = kHeaderBytes * 8; bit < bytes.size() * 8; ++bit) {
    std::vector<std::byte> damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_FALSE(DecodeMessage(damaged).ok()) << bit;
  }
}

TEST(VerbsWire, DamagedHelloIsFound) {
  std::vector<std::byte> bytes = Encoded(MessageOf(MessageKind::kFullHello));
  bytes[5000] ^= std::byte{1};
  EXPECT_EQ(DecodeMessage(bytes).status().code(), absl::StatusCode::kDataLoss);
}

TEST(VerbsWire, AnotherVersionIsNamed) {
  std::vector<std::byte> bytes = Encoded(MessageOf(MessageKind::kHello));
  bytes[2] = std::byte{9};
  const absl::Status status = DecodeMessage(bytes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("wire version 9"), absl::string_view::npos);
}

TEST(VerbsWire, GarbageIsRefused) {
  std::mt19937_64 random(1);
  std::array<std::byte, kHelloBytes> bytes;
  for (int i = 0; i < 10'000; ++i) {
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    if (i % 2 == 0) EncodeMessage({.kind = static_cast<MessageKind>(i % 256)}, bytes);
    const size_t size = random() % (kFrameMessageBytes + 1);
    const absl::StatusOr<Message> message = DecodeMessage(std::span(bytes).first(size));
    if (message.ok()) {
      EXPECT_TRUE(size == kHeaderBytes || size == kFrameMessageBytes);
    }
  }
}

}  // namespace
}  // namespace tapedeck::dataplane::verbs
