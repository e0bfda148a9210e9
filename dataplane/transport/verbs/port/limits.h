// The numbers of transport/verbs. Each comment says what breaks if the number is smaller or larger.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/clock.h"

namespace tapedeck::dataplane::verbs {

// Time a packet waits for its acknowledgement: 4.096 µs × 2^14 = 67 ms. Smaller mistakes a stalled
// host for a dead one; larger hides a dead path from the session.
inline constexpr uint8_t kAckTimeout = 14;

// Retransmissions: a dead path is reported after (6 + 1) × 67 ms = 0.47 s. Smaller gives up at a
// short burst of loss. Never 7: some ports then retry without end.
inline constexpr uint8_t kRetryCount = 6;

// What a peer waits before it sends again into a queue without a posted receive: code 12 is 0.64
// ms. Code 0 would be 655 ms, a stall without any error.
inline constexpr uint8_t kMinRnrTimer = 12;

// How often it does so: 4.5 ms in all. 7 would be without end. Credits make it needless: whoever
// runs into it has a bug.
inline constexpr uint8_t kRnrRetry = 6;

// READs under way per queue pair and direction, capped by both devices. Two of 1 MiB fill a 25GbE
// wire; more than 16 costs the responder resources for nothing.
inline constexpr uint32_t kMaxReads = 16;

// Hops a packet may take. 1 would not leave the subnet.
inline constexpr uint8_t kHopLimit = 64;

// Send queue of the control queue pair: a block costs at most two requests and a link has at most
// 64 blocks out. Fewer makes the connection wait for completions; more is memory for nothing.
inline constexpr uint32_t kControlSends = 256;

// Operations that wait for credits of the peer. An honest one gives them as long as it lives, so no
// more wait than blocks are held at either end; a hostile one must not make this end keep more.
inline constexpr size_t kMaxWaiting = 4096;

// Frames the peer may have under way. Fewer makes it wait for credits at 64 KiB blocks.
inline constexpr uint32_t kControlReceives = 256;

// Receives that frames leave free for word of credits and the farewell. With none, two ends that
// have both used up their credits would wait for each other.
inline constexpr uint32_t kReservedReceives = 8;

// Payloads posted on either side. A link has at most 64 blocks out.
inline constexpr uint32_t kPayloadSends = 128;
inline constexpr uint32_t kPayloadReceives = 128;

// One buffer of a control message: a header of 16 bytes and a frame of 64, in two cache lines.
inline constexpr size_t kSlotBytes = 128;

// The full hello. It must exceed every path MTU (at most 4096), or it would not prove that packets
// of full size get through.
inline constexpr size_t kHelloBytes = 8192;

// Every so many requests one asks for a completion, which frees all before it. Larger lets the send
// queue look full; smaller makes completions that nobody needs.
inline constexpr uint32_t kSignalEvery = 32;

// Completions taken at once, and requests handed over at once. Smaller rings more doorbells.
inline constexpr int kPollBatch = 32;
inline constexpr size_t kPostBatch = 32;

// Completion events acknowledged at once: each acknowledgement takes a mutex.
inline constexpr unsigned kEventAckBatch = 128;

// How long a poller looks for the next completion before it sleeps. Longer burns the core for
// nothing (a wake-up costs some 10 µs of the 342 µs that a block takes); shorter sleeps within a
// burst.
inline constexpr int64_t kSpinNs = 10'000;

// How long a closing end waits for its farewell to arrive. The peer notices without it, too, only
// later.
inline constexpr int64_t kFarewellNs = 100 * kMillisecondNs;

// How long flushed requests may take to come back before the queue pair is destroyed regardless.
inline constexpr int64_t kDrainNs = kSecondNs;

// Both, for a connection that is destroyed without being closed, which holds up its poller.
inline constexpr int64_t kAbruptFarewellNs = 20 * kMillisecondNs;

// The kernel's search for a peer's link address. Shorter misses one lost ARP packet.
inline constexpr int kResolveMs = 2000;

// The low bits of a buffer's address that its address for the peer keeps. Fewer than 12 breaks
// registration; 21 lets the device use pages of up to 2 MiB. The 42 bits above are random.
inline constexpr int kKeptAddressBits = 21;

}  // namespace tapedeck::dataplane::verbs
