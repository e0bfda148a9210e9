#include "dataplane/rail_tls.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "dataplane/reason.h"

namespace tapedeck::dataplane {

absl::Status RailTlsUnusable(absl::string_view rail, absl::string_view text) {
  return WithReason(absl::FailedPreconditionError(text), "RAIL_TLS_UNUSABLE",
                    {{"rail", std::string(rail)}});
}

absl::Status RailTlsMismatch(absl::string_view rail, bool ours) {
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat(
          "rail ", rail, ": ", ours ? "this end" : "the peer",
          " encrypts what its rails carry (--rail-tls on), the other end does not; give both "
          "nodes the option, or neither")),
      "RAIL_TLS_MISMATCH", {{"rail", std::string(rail)}});
}

absl::Status RailTlsBroken(absl::string_view text) {
  return WithReason(absl::DataLossError(text), "RAIL_TLS_BROKEN");
}

}  // namespace tapedeck::dataplane
