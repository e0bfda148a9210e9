// A storage node's triggers, markers and scrubs, from afar and in plain values. Errors are those of
// the node, or name it (NODE_UNREACHABLE).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "services/client/channel.h"
#include "services/recorder.h"
#include "services/scrub.h"

namespace tapedeck::services::client {

// Any thread. Each call blocks, at most for `timeout`.
class RecorderClient {
 public:
  RecorderClient(const client::Channel& channel, absl::Duration timeout);
  ~RecorderClient();

  absl::StatusOr<std::vector<Capture>> TriggerRecording(const std::string& channel,
                                                        const Trigger& trigger);
  absl::Status AnnotateRecording(const std::string& recording, const Annotation& annotation);
  absl::Status KeepRecording(const std::string& recording, bool kept);

  absl::StatusOr<Scrub> StartScrub(const ScrubStart& start);
  absl::StatusOr<Scrub> GetScrub(const std::string& parent);
  absl::StatusOr<Scrub> StopScrub(const std::string& parent);

 private:
  struct Stub;

  const std::string node_;
  const absl::Duration timeout_;
  const std::unique_ptr<Stub> stub_;
};

}  // namespace tapedeck::services::client
