#include "services/base/addresses/node_name.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dataplane/printable.h"
#include "dataplane/reason.h"
#include "dataplane/socket_address.h"
#include "dataplane/status_macros.h"

namespace tapedeck::services::naming {
namespace {

constexpr size_t kMaxHostBytes = 253;  // of DNS
constexpr size_t kMaxShown = 80;

// gRPC reads what begins with one of these in a way of its own, so no host is called so.
constexpr std::array<absl::string_view, 9> kSchemes = {
    "dns", "ipv4", "ipv6", "unix", "unix-abstract", "vsock", "xds", "google-c2p", "srv"};

absl::Status Wrong(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", dataplane::Printable(std::string(text), kMaxShown), "\": ", why));
}

bool IsScheme(absl::string_view text) {
  const auto is = [&](absl::string_view scheme) { return absl::EqualsIgnoreCase(scheme, text); };
  return std::ranges::any_of(kSchemes, is);
}

// "SCHEME:REST", of a scheme that is known, or of any before "//".
std::optional<std::pair<std::string, absl::string_view>> SchemeOf(absl::string_view text) {
  const size_t colon = text.find(':');
  if (colon == absl::string_view::npos) return std::nullopt;
  const absl::string_view scheme = text.substr(0, colon), rest = text.substr(colon + 1);
  if (!IsScheme(scheme) && !absl::StartsWith(rest, "//")) return std::nullopt;
  return std::pair(absl::AsciiStrToLower(scheme), rest);
}

// In brackets, as an address, with or without a zone: [fe80::1%eth0].
bool IsV6(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "[") || !absl::ConsumeSuffix(&text, "]")) return false;
  const size_t percent = text.find('%');
  if (percent != absl::string_view::npos && !IsHostName(text.substr(percent + 1))) return false;
  const auto address = dataplane::ParseIp(text.substr(0, percent));
  return address.has_value() && address->is_v6();
}

bool IsV4(absl::string_view text) {
  const auto address = dataplane::ParseIp(text);
  return address.has_value() && !address->is_v6();
}

// HOST:PORT and nothing else; `whole` is what was given.
absl::StatusOr<NodeName> ParsePlain(absl::string_view text, absl::string_view whole) {
  const auto [host, port] = dataplane::SplitHostPort(text);
  if (host.empty() || port.empty()) return Wrong(whole, "must be HOST:PORT");
  NodeName name{.host = std::string(host), .port = std::string(port)};
  if (dataplane::ParsePort(port).value_or(0) == 0)
    return Wrong(whole, "must be HOST:PORT with a port from 1 to 65535");
  if (IsV6(name.host)) return name;
  if (IsScheme(name.host)) return Wrong(whole, "must be HOST:PORT with a valid host");
  if (!IsHostName(name.host)) {
    return Wrong(whole, "must be HOST:PORT, with an IPv6 address in brackets; or dns:///HOST:PORT");
  }
  return name;
}

// HOST:PORT or HOST:PORT@ADDRESS.
absl::StatusOr<NodeName> ParseSimple(absl::string_view text) {
  const size_t at = text.find('@');
  TD_ASSIGN_OR_RETURN(NodeName name, ParsePlain(text.substr(0, at), text));
  if (at == absl::string_view::npos) return name;
  name.address = std::string(text.substr(at + 1));
  if (IsV4(name.address) || IsV6(name.address)) return name;
  return Wrong(text, "must be HOST:PORT@ADDRESS with an IP address, of IPv6 in brackets");
}

// Of "dns:///REST" and "dns:REST".
absl::StatusOr<absl::string_view> WithoutSlashes(absl::string_view rest, absl::string_view whole) {
  if (!absl::ConsumePrefix(&rest, "//")) {
    absl::ConsumePrefix(&rest, "/");
    return rest;
  }
  if (absl::ConsumePrefix(&rest, "/")) return rest;
  return Wrong(whole, "names a name server; write dns:///NAME to ask this machine's");
}

}  // namespace

std::string NodeName::authority() const { return absl::StrCat(host, ":", port); }

std::string NodeName::target() const {
  return address.empty() ? authority() : absl::StrCat(address, ":", port);
}

std::string NodeName::text() const {
  return address.empty() ? authority() : absl::StrCat(authority(), "@", address);
}

bool IsHostName(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxHostBytes && text.front() != '.' &&
         !absl::StrContains(text, "..") && std::ranges::all_of(text, [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || absl::StrContains(".-_", c);
         });
}

absl::StatusOr<NodeName> ParseNodeName(absl::string_view text) {
  const auto scheme = SchemeOf(text);
  if (!scheme.has_value()) return ParseSimple(text);
  const auto& [name, rest] = *scheme;
  if (name == "dns") {
    TD_ASSIGN_OR_RETURN(const absl::string_view plain, WithoutSlashes(rest, text));
    return ParsePlain(plain, text);
  }
  if (name == "srv") return Wrong(text, "is a list of nodes; name one");
  if (name == "ipv4" || name == "ipv6") {
    TD_ASSIGN_OR_RETURN(NodeName node, ParsePlain(rest, text));
    if (name == "ipv4" ? IsV4(node.host) : IsV6(node.host)) return node;
    return Wrong(text, name == "ipv4" ? "must be ipv4:A.B.C.D:PORT" : "must be ipv6:[A::B]:PORT");
  }
  return Wrong(
      text, absl::StrCat("nodes are not named by ", name, ": use HOST:PORT, dns:, ipv4: or ipv6:"));
}

absl::Status CheckNodeName(const std::string& text) { return ParseNodeName(text).status(); }

bool IsSameNode(absl::string_view one, absl::string_view other) {
  const auto first = ParseNodeName(one), second = ParseNodeName(other);
  if (!first.ok() || !second.ok()) return one == other;
  return absl::EqualsIgnoreCase(first->text(), second->text());
}

bool IsNodeList(absl::string_view text) {
  const auto scheme = SchemeOf(text);
  return scheme.has_value() && (scheme->first == "dns" || scheme->first == "srv");
}

absl::StatusOr<std::string> ParseServiceName(absl::string_view text) {
  const auto scheme = SchemeOf(text);
  if (!scheme.has_value() || scheme->first != "srv") return Wrong(text, "must be srv:NAME");
  TD_ASSIGN_OR_RETURN(const absl::string_view name, WithoutSlashes(scheme->second, text));
  if (absl::StartsWith(name, "_") && IsHostName(name)) return std::string(name);
  return Wrong(text, "must be srv:_SERVICE._PROTO.NAME, e.g. srv:_tapedeck._tcp.lab.example");
}

absl::Status CheckNodeOrList(const std::string& text) {
  const auto scheme = SchemeOf(text);
  if (scheme.has_value() && scheme->first == "srv") return ParseServiceName(text).status();
  return CheckNodeName(text);
}

}  // namespace tapedeck::services::naming
