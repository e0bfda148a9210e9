// One page of a listing (AIP-158). The token is the key of the last item sent, so that a listing
// stays right while items come and go.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "services/convert/catalog.h"
#include "services/convert/fields.h"
#include "services/convert/jobs.h"

namespace tapedeck::services::server {

inline constexpr int kMaxPageItems = 1000;
// Well below the message limit of 1 MiB, to which one more item is added.
inline constexpr size_t kMaxPageBytes = 512 << 10;

// A key that sorts newer times first.
inline std::string NewestFirst(int64_t time_ns, const std::string& name) {
  return absl::StrFormat("%020d/%s", INT64_MAX - time_ns, name);
}

// Sorts `items` by `key_of`, a unique string each, and puts a page of them into `out`.
template <typename Item, typename Request, typename KeyOf, typename Wire>
absl::Status FillPage(const std::vector<Item>& items, const Request& request, KeyOf key_of,
                      google::protobuf::RepeatedPtrField<Wire>* out, std::string* next_token) {
  if (request.page_size() < 0) return convert::FieldError("page_size", "is negative");
  std::string after;
  if (!absl::WebSafeBase64Unescape(request.page_token(), &after)) {
    return convert::FieldError("page_token", "is not from a response of this listing");
  }
  const int wanted = request.page_size() == 0 ? kMaxPageItems : request.page_size();
  const int limit = std::min(wanted, kMaxPageItems);

  std::vector<std::pair<std::string, const Item*>> order;
  for (const Item& item : items) {
    std::string key = key_of(item);
    if (after.empty() || key > after) order.emplace_back(std::move(key), &item);
  }
  std::sort(order.begin(), order.end());
  size_t bytes = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (out->size() == limit || bytes > kMaxPageBytes) {
      *next_token = absl::WebSafeBase64Escape(order[i - 1].first);
      break;
    }
    *out->Add() = convert::ToProto(*order[i].second);
    bytes += out->rbegin()->ByteSizeLong();
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::services::server
