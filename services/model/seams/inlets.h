// The seam between the inlet handlers and the GPU worker, in plain values. Field meanings and
// errors are those of tapedeck/v1/inlet.proto.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dataplane/clock.h"
#include "dataplane/transport/transport.h"
#include "services/model/seams/catalog.h"
#include "services/model/seams/jobs.h"
#include "services/model/words/stage_spec.h"

namespace tapedeck::services {

struct Inlet {
  std::string name;  // inlets/{inlet}
  std::string datatype;
  uint64_t block_bytes = 0;
  double sample_rate = 0;                   // 0: unknown
  std::optional<dataplane::TransferOp> op;  // none: READ
};

inline constexpr int64_t kDefaultInletWaitNs = 60 * dataplane::kSecondNs;
inline constexpr int64_t kMaxInletWaitNs = 86'400 * dataplane::kSecondNs;

struct ReceiveSpec {
  TransferSpec transfer;  // its target is the inlet's name; without storage, rails and op
  Inlet inlet;
  StageSpec sink;
  int64_t wait_ns = kDefaultInletWaitNs;
};

// Whether the target of a recording is an inlet.
bool IsInletName(absl::string_view name);
// INVALID_ARGUMENT (NAME_INVALID) unless it is inlets/{inlet}.
absl::Status CheckInletName(absl::string_view name);
// Its name, and what a stream through it is like, as of a channel. INVALID_ARGUMENT with the reason
// that fits.
absl::Status CheckInlet(const Inlet& inlet);
// How it looks to whoever records into it.
Channel AsChannel(const Inlet& inlet);

// NOT_FOUND (INLET_NOT_FOUND).
absl::Status InletNotFound(absl::string_view inlet);
// ALREADY_EXISTS or FAILED_PRECONDITION (INLET_BUSY): "INLET WHY".
absl::Status InletBusy(absl::StatusCode code, absl::string_view inlet, absl::string_view why);
// DEADLINE_EXCEEDED (INLET_TIMED_OUT).
absl::Status InletTimedOut(absl::string_view inlet, int64_t wait_ns);
// FAILED_PRECONDITION (INLETS_OFF).
absl::Status InletsOff();

// Any thread; no call waits for a stream.
class Inlets {
 public:
  virtual ~Inlets() = default;
  virtual absl::StatusOr<Job> StartReceive(const ReceiveSpec& spec) = 0;
  virtual absl::StatusOr<Inlet> GetInlet(const std::string& name) = 0;
};

}  // namespace tapedeck::services
