// What callers can make the console hold, all together.
#pragma once

#include <cstddef>

#include "dataplane/clock.h"

namespace tapedeck::services::console {

// Connections at the same time. From kCrowd on those that ask for nothing must go for new ones, the
// oldest first; the rest is for those that are told to go.
inline constexpr unsigned kMaxConnections = 256;
inline constexpr unsigned kCrowd = 224;

// After each look at the connections nobody is served for so long: a flood of requests finds a
// processor used in part, and a page with its few dozen requests is there at once all the same.
inline constexpr int64_t kBatchNs = 2 * dataplane::kMillisecondNs;

// How long a connection may take from its first byte to the last one of a request, for an answer to
// be taken, and without a request at all. Slower ones are cut.
inline constexpr int64_t kRequestLimitNs = 10 * dataplane::kSecondNs;
inline constexpr int64_t kAnswerLimitNs = 30 * dataplane::kSecondNs;
inline constexpr int64_t kIdleLimitNs = 60 * dataplane::kSecondNs;

// For the request line, the headers and the answer's own; what is longer is refused. The request of
// a stream stands in its line.
inline constexpr size_t kConnectionBytes = 32 << 10;

// The largest request is one that describes a recording with its labels.
inline constexpr size_t kMaxBodyBytes = 64 << 10;

// What a stream's client has not read yet. Above that it is dropped: who reads at all is seldom
// behind by more than a message.
inline constexpr size_t kMaxQueuedBytes = 1 << 20;

// A client that has gone without a word, or reads nothing, is found out by the kernel: what was
// sent to it has not been taken for so long.
inline constexpr int kUnreadLimitMs = 30'000;

// Of whole answers that nobody has taken yet, all together; a short one always has room. An answer
// is some megabytes at most, and a client takes it within milliseconds.
inline constexpr size_t kMaxWaitingBytes = 64 << 20;
inline constexpr size_t kShortAnswerBytes = 8 << 10;

// In a stream without news, so that the end of a client is noticed, and proxies let it be.
inline constexpr int64_t kSignOfLifeNs = 10 * dataplane::kSecondNs;

// Calls at the same time, all callers together, and those that stream. Each holds a connection.
inline constexpr int kMaxCalls = 64;
inline constexpr int kMaxStreams = 64;

// Of both, for one identity of a certificate: a page has a few, and four of them leave room.
inline constexpr int kMaxOfOne = 24;

// From the request to the answer of a call that does not stream.
inline constexpr int kCallLimitSeconds = 30;

}  // namespace tapedeck::services::console
