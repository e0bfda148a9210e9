#include "services/rpc/identity/address_patterns.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services::identity {
namespace {

using dataplane::SplitHostPort;

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

bool IsPort(absl::string_view text) {
  return text == "*" || dataplane::ParsePort(text).value_or(0) > 0;
}

bool PatternMatches(absl::string_view pattern, absl::string_view address) {
  const auto [host, port] = SplitHostPort(address);
  const auto [host_pattern, port_pattern] = SplitHostPort(pattern);
  return !port.empty() && Matches(host_pattern, host) && Matches(port_pattern, port);
}

}  // namespace

absl::Status AddressPatterns::CheckPattern(const std::string& pattern) {
  const auto [host, port] = SplitHostPort(pattern);
  if (IsHost(host, "*") && IsPort(port) && pattern.size() <= kMaxPatternBytes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("\"", pattern.substr(0, 80), "\" must be HOST:PORT, e.g. *.lab.example:7400"));
}

absl::StatusOr<AddressPatterns> AddressPatterns::Parse(absl::string_view option,
                                                       const std::vector<std::string>& patterns) {
  if (patterns.size() > kMaxAddressPatterns) {
    return absl::InvalidArgumentError(absl::StrCat(
        option, " is given ", patterns.size(), " times; ", kMaxAddressPatterns, " are allowed"));
  }
  AddressPatterns out;
  for (const std::string& pattern : patterns) {
    TD_RETURN_IF_ERROR(CheckPattern(pattern));
    out.patterns_.push_back(absl::AsciiStrToLower(pattern));
  }
  return out;
}

AddressPatterns AddressPatterns::Any() {
  AddressPatterns any;
  any.any_ = true;
  return any;
}

bool AddressPatterns::Fit(const std::string& address) const {
  if (any_) return true;
  const std::string small = absl::AsciiStrToLower(address);
  const auto fits = [&](const std::string& pattern) { return PatternMatches(pattern, small); };
  return IsHost(SplitHostPort(small).host) && std::ranges::any_of(patterns_, fits);
}

std::string AddressPatterns::Described() const {
  if (any_) return "any";
  return patterns_.empty() ? "none" : absl::StrJoin(patterns_, ", ");
}

// `at[i]`: what of the pattern has been looked at can be the first i characters of the text.
bool Matches(absl::string_view pattern, absl::string_view text) {
  std::vector<bool> at(text.size() + 1, false);
  at[0] = true;
  for (size_t p = 0; p < pattern.size(); ++p) {
    if (pattern[p] != '*') {
      for (size_t i = text.size(); i > 0; --i) at[i] = at[i - 1] && text[i - 1] == pattern[p];
      at[0] = false;
      continue;
    }
    const bool across = pattern.substr(p, 2) == "**";
    if (across) ++p;
    for (size_t i = 1; i <= text.size(); ++i) {
      if (at[i - 1] && (across || text[i - 1] != '/')) at[i] = true;
    }
  }
  return at[text.size()];
}

}  // namespace tapedeck::services::identity
