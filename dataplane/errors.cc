#include "dataplane/errors.h"

#include <map>
#include <string>
#include <utility>

#include "dataplane/reason.h"

namespace tapedeck::dataplane {

absl::Status LimitReached(const absl::AlphaNum& limit, absl::string_view option,
                          absl::string_view text) {
  return WithReason(absl::ResourceExhaustedError(text), "LIMIT_REACHED",
                    {{"limit", std::string(limit.Piece())}, {"option", std::string(option)}});
}

absl::Status RailUnreachable(absl::string_view rail, absl::string_view address,
                             absl::string_view text, absl::StatusCode code) {
  return WithReason(absl::Status(code, text), "RAIL_UNREACHABLE",
                    {{"rail", std::string(rail)}, {"address", std::string(address)}});
}

absl::Status NoRdmaDevice(absl::string_view address, absl::string_view text) {
  std::map<std::string, std::string> metadata;
  if (!address.empty()) metadata["address"] = std::string(address);
  return WithReason(absl::UnavailableError(text), "NO_RDMA_DEVICE", std::move(metadata));
}

absl::Status DeviceFailed(absl::string_view device, absl::string_view text) {
  return WithReason(absl::FailedPreconditionError(text), "DEVICE_FAILED",
                    {{"device", std::string(device)}});
}

absl::Status VersionMismatch(uint32_t ours, uint32_t theirs, absl::string_view text) {
  return WithReason(absl::FailedPreconditionError(text), "VERSION_MISMATCH",
                    {{"ours", absl::StrCat(ours)}, {"theirs", absl::StrCat(theirs)}});
}

}  // namespace tapedeck::dataplane
