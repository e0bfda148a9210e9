// Attacks over the connections of a session: frames that make the node remember or answer, whose
// answers nobody reads.
#include <chrono>
#include <functional>
#include <thread>

#include "tests/e2e/hostile/raw_session.h"

namespace tapedeck::hostile {
namespace {

using dataplane::Frame;
using dataplane::FrameType;

constexpr size_t kBatch = 256;

// Again and again: a session with a connection, over which `next` says what comes, until the node
// has had enough of it. Quiet, it keeps what it has.
void FloodFrames(Target& target, Tally& tally, const v1::Open& open,
                 const std::function<Frame(uint64_t)>& next) {
  const auto channel = Connect(target);
  while (target.goes_on()) {
    RawSession session(channel);
    if (!session.Open(open)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      continue;
    }
    while (target.goes_on() && session.ConnectRail("r0", 0)) {
      std::vector<Frame> frames(kBatch);
      for (uint64_t i = 0; target.goes_on();) {
        for (Frame& frame : frames) frame = next(i++);
        if (!session.Send(frames)) break;
        tally.Count(kBatch);
      }
    }
    target.StayQuiet();
  }
}

Frame BlockFrame(uint64_t sequence, uint32_t payload_bytes) {
  Frame frame{.type = FrameType::kBlock, .slot = static_cast<uint32_t>(sequence % 64)};
  frame.block = {.sequence = sequence, .payload_bytes = payload_bytes};
  if (payload_bytes == 0) frame.block.flags = dataplane::kBlockMissing;
  return frame;
}

}  // namespace

// One block without payload, for ever: the node answers each.
void FloodDuplicates(Target& target, Tally& tally) {
  FloodFrames(target, tally, RecordInto(target.channel + "-a", v1::TRANSFER_OP_SEND),
              [](uint64_t) { return BlockFrame(0, 0); });
}

// Blocks that lie here, for whoever pulls them.
void FloodAnnouncements(Target& target, Tally& tally) {
  FloodFrames(target, tally, RecordInto(target.channel + "-b", v1::TRANSFER_OP_READ),
              [](uint64_t i) { return BlockFrame(i % 8000, 64 << 10); });
}

void FloodGrants(Target& target, Tally& tally) {
  FloodFrames(target, tally, Play(target.recording, v1::TRANSFER_OP_WRITE), [](uint64_t i) {
    return Frame{.type = FrameType::kGrant, .slot = static_cast<uint32_t>(i % (1 << 20))};
  });
}

}  // namespace tapedeck::hostile
