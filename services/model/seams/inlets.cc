#include "services/model/seams/inlets.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/words/resource_name.h"

namespace tapedeck::services {

bool IsInletName(absl::string_view name) { return absl::StartsWith(name, "inlets/"); }

absl::Status CheckInletName(absl::string_view name) { return ParseName(name, {"inlets"}).status(); }

absl::Status CheckInlet(const Inlet& inlet) {
  TD_RETURN_IF_ERROR(CheckInletName(inlet.name));
  return model::CheckChannel(AsChannel(inlet));
}

Channel AsChannel(const Inlet& inlet) {
  return {.name = inlet.name,
          .block_bytes = inlet.block_bytes,
          .datatype = inlet.datatype,
          .sample_rate = inlet.sample_rate,
          .op = inlet.op,
          .commit = dataplane::CommitLevel::kReceived};
}

absl::Status InletNotFound(absl::string_view inlet) {
  return WithReason(absl::NotFoundError(
                        absl::StrCat("no \"", inlet, "\" is open here; tapectl receive opens it")),
                    "INLET_NOT_FOUND", {{"inlet", std::string(inlet)}});
}

absl::Status InletBusy(absl::StatusCode code, absl::string_view inlet, absl::string_view why) {
  return WithReason(absl::Status(code, absl::StrCat(inlet, " ", why)), "INLET_BUSY",
                    {{"inlet", std::string(inlet)}});
}

absl::Status InletTimedOut(absl::string_view inlet, int64_t wait_ns) {
  return WithReason(
      absl::DeadlineExceededError(absl::StrCat(inlet, ": no stream came for ",
                                               absl::FormatDuration(absl::Nanoseconds(wait_ns)),
                                               "; tapectl record --to HOST:PORT/INLET sends one")),
      "INLET_TIMED_OUT", {{"inlet", std::string(inlet)}});
}

absl::Status InletsOff() {
  return WithReason(absl::FailedPreconditionError(
                        "this worker receives no streams: start tapedeck-worker with --inlets on"),
                    "INLETS_OFF");
}

}  // namespace tapedeck::services
