#include "services/rpc/server/handlers/check_view.h"

#include <bit>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/model/words/resource_name.h"
#include "services/rpc/convert/values/fields.h"

namespace tapedeck::services::server {
namespace {

using convert::FieldError;

absl::Status CheckRange(absl::string_view field, uint64_t value, uint64_t least, uint64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return FieldError(field, absl::StrCat("is ", value, ", not ", least, " to ", most));
}

}  // namespace

absl::Status CheckView(const SpectrogramRequest& request) {
  TD_RETURN_IF_ERROR(CheckRecordingName(request.recording));
  TD_RETURN_IF_ERROR(CheckRange("columns", request.columns, kLeastColumns, kMostColumns));
  if (!std::has_single_bit(request.columns)) {
    return FieldError("columns", absl::StrCat("is ", request.columns, ", which is no power of 2"));
  }
  return CheckRange("rows", request.rows, 1, kMostRows);
}

absl::Status CheckView(const SamplesRequest& request) {
  TD_RETURN_IF_ERROR(CheckRecordingName(request.recording));
  return CheckRange("sample_count", request.span.count, 1, kMostSamples);
}

absl::Status CheckView(const EnvelopeRequest& request) {
  TD_RETURN_IF_ERROR(CheckRecordingName(request.recording));
  return CheckRange("points", request.points, 1, kMostPoints);
}

}  // namespace tapedeck::services::server
