#include "gpu_worker/allowed_storage.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "services/identity/glob.h"

namespace tapedeck::gpu_worker {
namespace {

constexpr char kOption[] = "--storage-allow";
constexpr size_t kMaxPatternBytes = 300;  // a name of 253 bytes and a port

// A name or an address, of IPv6 in brackets: in any other text the resolver might read another
// address than the one that was compared, as in "unix:a.lab.example". `more` characters are
// allowed.
bool IsHost(absl::string_view text, absl::string_view more = "") {
  const bool v6 = absl::ConsumePrefix(&text, "[") && absl::ConsumeSuffix(&text, "]");
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' ||
           absl::StrContains(v6 ? ":" : "-_", c) || absl::StrContains(more, c);
  });
}

std::pair<absl::string_view, absl::string_view> HostAndPort(absl::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return {};
  return {address.substr(0, colon), address.substr(colon + 1)};
}

bool IsPort(absl::string_view text) {
  uint32_t port = 0;
  return text == "*" || (absl::SimpleAtoi(text, &port) && port > 0 && port <= UINT16_MAX);
}

bool Fits(absl::string_view pattern, absl::string_view address) {
  const auto [host, port] = HostAndPort(address);
  const auto [host_pattern, port_pattern] = HostAndPort(pattern);
  return services::identity::Matches(host_pattern, host) &&
         services::identity::Matches(port_pattern, port);
}

}  // namespace

absl::Status AllowedStorage::CheckPattern(const std::string& pattern) {
  const auto [host, port] = HostAndPort(pattern);
  if (IsHost(host, "*") && IsPort(port) && pattern.size() <= kMaxPatternBytes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", pattern.substr(0, 80), "\" must be HOST:PORT, e.g. *.lab.example:7400"));
}

absl::StatusOr<AllowedStorage> AllowedStorage::Parse(const std::vector<std::string>& patterns) {
  if (patterns.size() > kMaxStoragePatterns) {
    return absl::InvalidArgumentError(absl::StrCat(
        kOption, " is given ", patterns.size(), " times; ", kMaxStoragePatterns, " are allowed"));
  }
  AllowedStorage allowed;
  for (const std::string& pattern : patterns) {
    TD_RETURN_IF_ERROR(CheckPattern(pattern));
    allowed.patterns_.push_back(absl::AsciiStrToLower(pattern));
  }
  return allowed;
}

absl::Status AllowedStorage::Check(const std::string& address) const {
  if (patterns_.empty()) return absl::OkStatus();
  const std::string small = absl::AsciiStrToLower(address);
  const auto fits = [&](const std::string& pattern) { return Fits(pattern, small); };
  if (IsHost(HostAndPort(small).first) && std::ranges::any_of(patterns_, fits)) {
    return absl::OkStatus();
  }
  return services::WithReason(
      absl::PermissionDeniedError(
          absl::StrCat("storage node ", address, ": this worker calls no other than ",
                       Described().substr(0, 1000), "; name one of these, or start it with ",
                       kOption, " HOST:PORT of this one, too")),
      "STORAGE_NOT_ALLOWED", {{"storage", address}, {"option", kOption}});
}

std::string AllowedStorage::Described() const {
  return patterns_.empty() ? "any" : absl::StrJoin(patterns_, ", ");
}

}  // namespace tapedeck::gpu_worker
