// One page of a listing (AIP-158). The token is the key of the last item sent, so that a listing
// stays right while items come and go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "dataplane/status_macros.h"
#include "services/model/seams/catalog.h"
#include "services/rpc/convert/catalog.h"
#include "services/rpc/convert/jobs.h"
#include "services/rpc/convert/values/fields.h"
#include "services/rpc/identity/access.h"
#include "tapedeck/v1/catalog.pb.h"

namespace tapedeck::services::server {

inline constexpr int kMaxPageItems = 1000;
// Below the message limit of 1 MiB, and above what any one item may have.
inline constexpr size_t kMaxPageBytes = 768 << 10;

// A page that is being filled with messages of a listing, in its order.
template <typename Wire>
class Page {
 public:
  // `page_size` of the request; 0: as many as there may be.
  Page(int page_size, google::protobuf::RepeatedPtrField<Wire>* out)
      : limit_(page_size == 0 ? kMaxPageItems : std::min(page_size, kMaxPageItems)), out_(*out) {}

  // False: it is full, and what is not in it comes on the next. The first is always taken.
  bool Add(Wire wire) {
    const size_t bytes = wire.ByteSizeLong();
    if (!out_.empty() && (out_.size() == limit_ || bytes_ + bytes > kMaxPageBytes)) return false;
    bytes_ += bytes;
    *out_.Add() = std::move(wire);
    return true;
  }

 private:
  const int limit_;
  google::protobuf::RepeatedPtrField<Wire>& out_;
  size_t bytes_ = 0;
};

inline absl::StatusOr<std::string> DecodePageToken(int page_size, const std::string& token) {
  if (page_size < 0) return convert::FieldError("page_size", "is negative");
  std::string after;
  if (absl::WebSafeBase64Unescape(token, &after)) return after;
  return convert::FieldError("page_token", "is not from a response of this listing");
}

// A key that sorts newer times first.
inline std::string NewestFirst(int64_t time_ns, const std::string& name) {
  return absl::StrFormat("%020d/%s", INT64_MAX - time_ns, name);
}

// Sorts what `list` returns, an absl::StatusOr of a vector, by `key_of`, a unique string each, and
// puts a page of it into `out`. Nothing is listed for a request that is wrong.
template <typename List, typename Request, typename KeyOf, typename Wire>
absl::Status FillPage(List list, const Request& request, KeyOf key_of,
                      google::protobuf::RepeatedPtrField<Wire>* out, std::string* next_token) {
  TD_ASSIGN_OR_RETURN(const std::string after,
                      DecodePageToken(request.page_size(), request.page_token()));
  TD_ASSIGN_OR_RETURN(const auto items, list());

  using Item = typename decltype(items)::value_type;
  std::vector<std::pair<std::string, const Item*>> order;
  for (const Item& item : items) {
    std::string key = key_of(item);
    if (after.empty() || key > after) order.emplace_back(std::move(key), &item);
  }
  std::sort(order.begin(), order.end());
  Page<Wire> page(request.page_size(), out);
  for (size_t i = 0; i < order.size(); ++i) {
    if (page.Add(convert::ToProto(*order[i].second))) continue;
    *next_token = absl::WebSafeBase64Escape(order[i - 1].first);
    break;
  }
  return absl::OkStatus();
}

// A page of a listing of recordings, which may be of more than one wants to hold: they are asked
// for a few at a time. Those that the caller may see. Any thread; waits for the catalog.
// INVALID_ARGUMENT (ARGUMENT_INVALID): the page's size or token. Else what the catalog says.
absl::Status FillWithRecordings(RecordingCatalog& recordings, const identity::Access& access,
                                const v1::ListRecordingsRequest& request,
                                v1::ListRecordingsResponse* response);

}  // namespace tapedeck::services::server
