// What a node's flight recorder gives, in plain values. services/rpc/convert translates it to
// tapedeck.v1 messages, which dumps are made of, too.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dataplane/flight/ring.h"
#include "services/model/seams/node.h"
#include "services/observe/flight/trails.h"

namespace tapedeck::services::flight {

using dataplane::flight::Entry;

// Stamps of a page: 512 KiB on the wire, half of what a message may have.
inline constexpr size_t kPageEntries = 16384;

struct ThreadStamps {
  std::string thread;
  uint32_t number = 0;  // among those of this name
  std::vector<Entry> entries;
  uint64_t missed = 0;  // overwritten since they were asked for
  bool operator==(const ThreadStamps&) const = default;
};

struct Trace {
  std::string node;
  NodeRole role = NodeRole::kStorage;
  int64_t pid = 0;
  int64_t now_ns = 0;  // the clock of stamps
  int64_t utc_ns = 0;  // at the same moment
  std::vector<TrailInfo> trails;
  std::vector<ThreadStamps> threads;
  uint64_t threads_without = 0;    // that had no ring
  std::vector<std::string> dumps;  // there are, by name
  std::string cause;               // of a dump: why the session failed
};

// Of which sessions, at most one of them; none: of all.
struct TraceRequest {
  std::string session;
  std::string job;
  std::string recording;
  std::string dump;
  int64_t last_ns = 0;  // 0: all there are
  std::string page_token;
};

struct TracePage {
  Trace trace;  // pages after the first have threads alone
  std::string next_page_token;
};

// How a dump's parts lie in its file.
struct TraceCodec {
  std::function<std::string(const Trace&)> encode;
  std::function<absl::StatusOr<Trace>(const std::string&)> decode;
};

// How both programs and the bench are told to leave no stamps.
inline constexpr char kSwitchHelp[] =
    "Record the steps of each block; off only to measure what that costs; TAPEDECK_FLIGHT sets it "
    "too";
inline constexpr char kSwitchVariable[] = "TAPEDECK_FLIGHT";

}  // namespace tapedeck::services::flight
