// A storage node's triggers, markers and scrubs, from afar and in plain values. Errors are those of
// the node, or name it (NODE_UNREACHABLE).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/model/seams/recorder.h"
#include "services/model/seams/scrub.h"
#include "services/rpc/client/calls/service_client.h"

namespace tapedeck::services::client {

// Any thread. Each call blocks, at most for `time`.
class RecorderClient final : public ServiceClient {
 public:
  RecorderClient(const client::Channel& channel, const CallTime& time)
      : ServiceClient(channel, time, "tapedeck.v1.RecorderService") {}

  absl::StatusOr<std::vector<Capture>> TriggerRecording(const std::string& channel,
                                                        const Trigger& trigger);
  absl::Status AnnotateRecording(const std::string& recording, const Annotation& annotation);
  // All of them, in calls of so many that a message holds; of each call all or none. `done` counts
  // those that are there, also if it fails. CANCELLED (JOB_CANCELLED): `go_on`, which is asked
  // before each call, has answered false. INVALID_ARGUMENT (PROTOCOL_VIOLATION): the node does not
  // get further.
  absl::Status Annotate(const std::string& recording, std::span<const Annotation> annotations,
                        const std::function<bool()>& go_on, size_t* done);
  // One call of the same, where each goes into the segment with its samples, if the recording is
  // one of a stream. Goes on from `marked`, as long as some are not done; an error is of the next
  // one alone. Each call gets further, or fails.
  absl::Status AnnotateStream(const std::string& recording, std::span<const Annotation> annotations,
                              model::Marked* marked);
  absl::Status KeepRecording(const std::string& recording, bool kept);

  absl::StatusOr<Scrub> StartScrub(const ScrubStart& start);
  absl::StatusOr<Scrub> GetScrub(const std::string& parent);
  absl::StatusOr<Scrub> StopScrub(const std::string& parent);

 private:
  // One call, of the first ones.
  absl::Status Add(const std::string& recording, bool stream,
                   std::span<const Annotation> annotations, model::Marked* marked);
};

}  // namespace tapedeck::services::client
