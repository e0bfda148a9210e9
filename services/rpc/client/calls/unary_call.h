// One unary call with its deadlines, and its result in our terms.
#pragma once

#include <grpcpp/client_context.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/now.h"
#include "services/base/errors.h"
#include "services/rpc/client/calls/call_limits.h"
#include "services/rpc/client/calls/call_status.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/calls/pulse.h"

namespace tapedeck::services::client {

// Gives up a call whose node has shown no sign of life for too long. Around one call, on its
// caller's thread. `context` outlives it.
class SilenceWatch {
 public:
  SilenceWatch(const Channel& channel, const CallTime& time, grpc::ClientContext& context);

  // DEADLINE_EXCEEDED: it was given up. Says how far the call had come.
  absl::Status status() const;

 private:
  // Whether to go on.
  bool OnLook(bool alive);

  const Channel& channel_;
  const int64_t most_looks_;
  grpc::ClientContext& context_;
  int64_t silent_looks_ = 0;  // of the pulse's thread
  std::atomic<bool> silent_ = false;
  std::unique_ptr<Pulse> pulse_;  // goes first; null: nobody limits the silence
};

// `call` is given the context and returns grpc::Status. CANCELLED once `gate`, which may be null,
// is closed; DEADLINE_EXCEEDED once `time` is over.
template <typename Call>
absl::Status RunCall(const Channel& node, const CallTime& time, CallGate* gate, Call call) {
  grpc::ClientContext context;
  const absl::Time now = dataplane::WallTime();
  context.set_deadline(absl::ToChronoTime(now + time.total));
  const CallGate::Passage passage(gate, context);
  const SilenceWatch silence(node, time, context);
  const grpc::Status status = call(&context);
  if (!status.ok() && gate != nullptr && gate->closed()) {
    return absl::CancelledError(absl::StrCat("the call to ", node.address, " was given up"));
  }
  const absl::Status silent = silence.status();
  return status.ok() || silent.ok() ? CallStatus(status, node.address) : silent;
}

// Of one listing. A node has a thousand entries on a page, but for long ones.
inline constexpr size_t kMostPages = 10'000;
// Of all its pages. A million recordings have less.
inline constexpr size_t kMostListedBytes = size_t{2} << 30;

// What is to be known of a node that lists without an end.
class PageBounds {
 public:
  explicit PageBounds(const std::string& node) : node_(node) {}

  // The next page's token, and what this one weighs. INVALID_ARGUMENT (PROTOCOL_VIOLATION): there
  // was that page; RESOURCE_EXHAUSTED (LIMIT_REACHED).
  absl::Status Take(const std::string& next_token, size_t bytes) {
    bytes_ += bytes;
    if (!tokens_.insert(next_token).second) {
      return ProtocolViolation({.message = "answer", .field = "next_page_token", .peer = node_},
                               absl::StrCat(node_, " sends the same page of a list again"));
    }
    if (tokens_.size() < kMostPages && bytes_ < kMostListedBytes) return absl::OkStatus();
    return LimitReached(kMostPages, "pages of a list",
                        absl::StrCat("the list of ", node_, " has not ended after ", tokens_.size(),
                                     " pages and ", bytes_, " bytes; list one channel at a time"));
  }

 private:
  const std::string& node_;
  std::set<std::string> tokens_;
  size_t bytes_ = 0;
};

// Fetches every page of a listing of `node` into `take(response)`. No node makes it endless.
// `call(request, response)` fetches one.
template <typename Request, typename Response, typename Call, typename Take>
absl::Status ForEachPage(const std::string& node, Request request, Call call, Take take) {
  PageBounds bounds(node);
  while (true) {
    Response response;
    if (const absl::Status status = call(request, response); !status.ok()) return status;
    if (const absl::Status taken = take(response); !taken.ok()) return taken;
    if (response.next_page_token().empty()) return absl::OkStatus();
    const absl::Status more = bounds.Take(response.next_page_token(), response.ByteSizeLong());
    if (!more.ok()) return more;
    request.set_page_token(response.next_page_token());
  }
}

// An id that makes a repeated mutation harmless (AIP-155): a random UUID4, lower-case.
std::string NewRequestId();

}  // namespace tapedeck::services::client
