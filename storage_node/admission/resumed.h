// Record sessions that continue a recording, or a stream of segments, whose session was lost. The
// worker that made the recording has its token.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/admission/node_resources.h"
#include "storage_node/admission/record_target.h"
#include "storage_node/capture/armed_recording.h"

namespace tapedeck::storage_node::admission {

// A recording that was closed longer ago than this is not gone on with: its worker has long given
// up (services/model/job_spec.h, kMaxResumeForNs), and whoever uses it may rely on it. A step of
// the clock makes none older.
inline constexpr int64_t kResumeLimitNs = 3600 * dataplane::kSecondNs;

// What goes on: one recording, or the last segments of a stream, in order.
struct Resumable {
  RecordTarget target;  // as the recording has it, whatever its channel says by now
  std::vector<catalog::RecordingRow> rows;
};

// On the LUN's queue. FAILED_PRECONDITION (RESUME_REFUSED); the same (RECORDING_BUSY) while
// somebody writes or uses it: a session that does is told to end.
absl::StatusOr<Resumable> FindResumable(NodeResources& resources,
                                        const services::session::Open& open);

struct ResumedRecordings {
  uint64_t next_block = 0;
  uint64_t missing_blocks = 0;
  std::vector<capture::ArmRecording> recordings;
};

// On the LUN's queue. Opens their files to be written on; until their writers begin nothing of them
// is changed. Errors as of FindResumable, and RESOURCE_EXHAUSTED (LUN_FULL).
absl::StatusOr<ResumedRecordings> Reopen(NodeResources& resources, const Resumable& found,
                                         size_t ring_slots,
                                         std::shared_ptr<dataplane::ArrivalCrcs> arrivals,
                                         dataplane::Executor& executor);

// For the manifests of a new recording.
std::string NewResumeToken(NodeResources& resources);
// As the worker is told it, and back. Empty: none.
std::string TokenBytes(const std::string& digits);

}  // namespace tapedeck::storage_node::admission
