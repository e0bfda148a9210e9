// A storage node as a GPU worker sees it, in plain values.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/base/trace/span.h"
#include "services/model/recording/recording.h"
#include "services/model/seams/catalog.h"
#include "services/model/view.h"
#include "services/session/protocol/control.h"

namespace tapedeck::services {

// Any thread. Calls wait for the node, at most 60 s, and 5 s after the last sign of life of its
// connection. Errors are the node's own, UNAVAILABLE (NODE_UNREACHABLE), or DEADLINE_EXCEEDED.
class RecordingsClient {
 public:
  virtual ~RecordingsClient() = default;
  // Of a segment with the annotations of its whole stream: an earlier one may last into it, and a
  // playback may go on with the next.
  virtual absl::StatusOr<Recording> GetRecording(const std::string& name) = 0;
  virtual absl::StatusOr<Timeline> GetTimeline(const std::string& recording) = 0;
  // As many as go in one call, each into the segment with its samples if the recording is one of a
  // stream. Goes on from `marked`, as long as some are not done; an error is of the next one alone.
  virtual absl::Status AnnotateStream(const std::string& recording,
                                      std::span<const Annotation> annotations,
                                      model::Marked* marked) = 0;
};

// The same of channels and sessions.
class StorageClient : public RecordingsClient {
 public:
  virtual absl::StatusOr<Channel> GetChannel(const std::string& name) = 0;
  // Ends all calls but sessions, those under way and those to come: CANCELLED.
  virtual void Cancel() = 0;
  // Returns at once; a node that cannot be reached closes the stream.
  virtual std::unique_ptr<session::ControlStream> OpenSession() = 0;
  // The same at another node that may have taken its LUNs over, counted from 0; what is asked after
  // that, but channels, is asked there. Null: there is no such node.
  virtual std::unique_ptr<session::ControlStream> OpenStandby(size_t /*standby*/) {
    return nullptr;
  }
};

// Any thread.
class StorageDialer {
 public:
  virtual ~StorageDialer() = default;
  // `address` is HOST:PORT; calls are told of under `trace`, and made for `caller`, whom the node
  // asks for rights as well; empty: for the worker itself. Does not wait for the connection.
  virtual std::unique_ptr<StorageClient> Dial(const std::string& address,
                                              const telemetry::trace::Branch& trace,
                                              const std::string& caller) = 0;
};

// A storage node and those that may go on for it, as one. Channels are asked of `first`; recordings
// and annotations of the node that a session was opened to last. None of them is null.
std::unique_ptr<StorageClient> WithStandbys(std::unique_ptr<StorageClient> first,
                                            std::vector<std::unique_ptr<StorageClient>> standbys);

}  // namespace tapedeck::services
