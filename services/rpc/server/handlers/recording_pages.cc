
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/model/words/resource_name.h"
#include "services/rpc/convert/catalog.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/server/handlers/page.h"

namespace tapedeck::services::server {
namespace {

// Many enough that a page takes few looks into the catalog, few enough to be held at once.
constexpr size_t kRecordingsAtOnce = 16;

absl::StatusOr<RecordingKey> AfterToken(const v1::ListRecordingsRequest& request) {
  TD_ASSIGN_OR_RETURN(const std::string text,
                      DecodePageToken(request.page_size(), request.page_token()));
  RecordingKey key;
  if (text.empty()) return key;
  const size_t slash = text.find('/');
  key.name = slash == std::string::npos ? "" : text.substr(slash + 1);
  if (!absl::SimpleAtoi(text.substr(0, slash), &key.open_time_ns) ||
      !CheckRecordingName(key.name).ok()) {
    return convert::FieldError("page_token", "is not from a response of this listing");
  }
  return key;
}

}  // namespace

absl::Status FillWithRecordings(RecordingCatalog& recordings, const identity::Access& access,
                                const v1::ListRecordingsRequest& request,
                                v1::ListRecordingsResponse* response) {
  TD_ASSIGN_OR_RETURN(RecordingKey after, AfterToken(request));
  RecordingKey shown = after;  // what is left out is not named by the token either
  Page<v1::Recording> page(request.page_size(), response->mutable_recordings());
  while (true) {
    TD_ASSIGN_OR_RETURN(const std::vector<Recording> some,
                        recordings.RecordingsAfter(request.parent(), after, kRecordingsAtOnce));
    for (const Recording& recording : some) {
      after = {.open_time_ns = recording.open_time_ns, .name = recording.name};
      if (!access.Sees(recording.name)) continue;
      if (!page.Add(convert::ToProto(recording))) {
        response->set_next_page_token(
            absl::WebSafeBase64Escape(absl::StrCat(shown.open_time_ns, "/", shown.name)));
        return absl::OkStatus();
      }
      shown = after;
    }
    if (some.size() < kRecordingsAtOnce) return absl::OkStatus();
  }
}

}  // namespace tapedeck::services::server
