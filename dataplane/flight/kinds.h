// The meanings of a stamp: the steps of a block, and events of rails and stores beside it. The
// timeline, the USDT probes and the NVTX ranges use the same names.
#pragma once

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace tapedeck::dataplane::flight {

// Values are written into dumps: they stay as they are, and new ones come last.
enum class Kind : uint8_t {
  kNone = 0,
  kMade = 1,          // its work is enqueued on the device
  kComputed = 2,      // the device is done with it, and its copy is on the host
  kReady = 3,         // has its CRC and waits for the session
  kGiven = 4,         // to the sender, which holds `argument` blocks
  kRail = 5,          // to a rail (`place`); argument: Load
  kTaken = 6,         // by the rail's poller
  kSent = 7,          // the connection needs the payload no more
  kReceived = 8,      // the other end has it; argument: Load
  kAcknowledged = 9,  // at the commit level
  kAsked = 10,        // the read of its payload from the other end
  kArrived = 11,      // its payload is here, where `argument` blocks wait
  kChecked = 12,      // its CRC is right
  kStore = 13,        // given to a member of the LUN (`place`)
  kWritten = 14,      // by that member
  kDurable = 15,      // the `argument` blocks below the sequence: those of one recording
  kTold = 16,         // the sender is told that all below the sequence are acknowledged
  kFetch = 17,        // asked of a member of the LUN (`place`)
  kFetched = 18,      // read, and right
  kConsume = 19,      // its work is enqueued on the device
  kConsumed = 20,     // by the sink of the pipeline
  kCredit = 21,       // a slot of the other end, for a rail (`place`); argument: Load
  kFlush = 22,        // begins: of the `argument` blocks below the sequence
  kGap = 23,          // there is no payload
  kResend = 24,       // it arrived damaged and is sent again
  kRailUp = 25,       // `place`
  kRailDown = 26,     // `place`
  kSessionFailed = 27,
  kFinished = 28  // the session, well: what was not acknowledged before is so now
};

struct KindName {
  Kind kind;
  absl::string_view name;
};

inline constexpr std::array<KindName, 28> kKinds = {{
    {Kind::kMade, "made"},
    {Kind::kComputed, "computed"},
    {Kind::kReady, "ready"},
    {Kind::kGiven, "given"},
    {Kind::kRail, "rail"},
    {Kind::kTaken, "taken"},
    {Kind::kSent, "sent"},
    {Kind::kReceived, "received"},
    {Kind::kAcknowledged, "acknowledged"},
    {Kind::kAsked, "asked"},
    {Kind::kArrived, "arrived"},
    {Kind::kChecked, "checked"},
    {Kind::kStore, "store"},
    {Kind::kWritten, "written"},
    {Kind::kDurable, "durable"},
    {Kind::kTold, "told"},
    {Kind::kFetch, "fetch"},
    {Kind::kFetched, "fetched"},
    {Kind::kConsume, "consume"},
    {Kind::kConsumed, "consumed"},
    {Kind::kCredit, "credit"},
    {Kind::kFlush, "flush"},
    {Kind::kGap, "gap"},
    {Kind::kResend, "resend"},
    {Kind::kRailUp, "rail_up"},
    {Kind::kRailDown, "rail_down"},
    {Kind::kSessionFailed, "session_failed"},
    {Kind::kFinished, "finished"},
}};

// "" for a number that is no kind.
constexpr absl::string_view NameOf(Kind kind) {
  const auto number = static_cast<size_t>(kind);
  return number == 0 || number > kKinds.size() ? absl::string_view() : kKinds[number - 1].name;
}

// What a link has under way, and may have more: an argument.
struct Load {
  uint32_t in_flight = 0;
  uint32_t credits = 0;

  constexpr uint64_t argument() const { return uint64_t{credits} << 32 | in_flight; }
  static constexpr Load Of(uint64_t argument) {
    return {.in_flight = static_cast<uint32_t>(argument),
            .credits = static_cast<uint32_t>(argument >> 32)};
  }
};

}  // namespace tapedeck::dataplane::flight
