#include "services/observe/flight/recorder.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dataplane/flight/stamp.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services::flight {

using dataplane::flight::ProcessRings;

absl::StatusOr<std::unique_ptr<Recorder>> Recorder::Create(TraceNode node,
                                                           const std::string& state_dir,
                                                           TraceCodec codec) {
  std::unique_ptr<Dumps> dumps;
  if (!state_dir.empty()) {
    if (mkdir(state_dir.c_str(), 0750) != 0 && errno != EEXIST) {
      return absl::InternalError(absl::StrCat("mkdir ", state_dir, ": ", std::strerror(errno)));
    }
    TD_ASSIGN_OR_RETURN(dumps, Dumps::Create({.directory = absl::StrCat(state_dir, "/flight"),
                                              .node = node.name,
                                              .role = node.role,
                                              .codec = std::move(codec)},
                                             ProcessRings()));
  }
  return std::unique_ptr<Recorder>(new Recorder(std::move(node), std::move(dumps)));
}

Recorder::Recorder(TraceNode node, std::unique_ptr<Dumps> dumps)
    : dumps_(std::move(dumps)), reader_(std::move(node), trails_, ProcessRings(), dumps_.get()) {
  if (dumps_ == nullptr) return;
  trails_.SetOnFailed([dumps = dumps_.get()](const TrailInfo& trail, const absl::Status& cause) {
    dumps->Leave(trail, cause);
  });
}

}  // namespace tapedeck::services::flight
