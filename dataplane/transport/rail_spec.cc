#include "dataplane/transport/rail_spec.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "dataplane/socket_address.h"

namespace tapedeck::dataplane {
namespace {

// Of a text that is wrong.
constexpr size_t kMaxShownBytes = 200;

bool IsRailName(absl::string_view name) {
  const auto allowed = [](unsigned char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxRailNameBytes && std::ranges::all_of(name, allowed);
}

bool IsAddress(absl::string_view address) {
  const auto printed = [](unsigned char c) { return absl::ascii_isgraph(c); };
  return !address.empty() && address != "%" && address.size() <= kMaxRailAddressBytes &&
         std::ranges::all_of(address, printed);
}

}  // namespace

absl::StatusOr<RailSpec> ParseRailSpec(const std::string& text) {
  const auto bad = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("rail \"", absl::CHexEscape(text.substr(0, kMaxShownBytes)), "\": ", why,
                     "; expected NAME=KIND:ADDRESS[:PORT]"));
  };
  const size_t equals = text.find('=');
  const size_t colon = text.find(':', equals);
  if (equals == 0 || equals == std::string::npos || colon == std::string::npos) {
    return bad("incomplete");
  }
  RailSpec spec{.name = text.substr(0, equals),
                .kind = text.substr(equals + 1, colon - equals - 1)};
  if (!IsRailName(spec.name)) return bad("a name is 1 to 63 of A-Z a-z 0-9 . _ -");
  std::string rest = text.substr(colon + 1);
  std::string port;
  if (!rest.empty() && rest[0] == '[') {  // [IPv6]:PORT
    const size_t end = rest.find(']');
    if (end == std::string::npos) return bad("no closing bracket");
    if (end + 1 < rest.size() && rest[end + 1] != ':') return bad("no colon before the port");
    if (end + 1 < rest.size()) port = rest.substr(end + 2);
    rest = rest.substr(1, end - 1);
  } else if (const size_t at = rest.find(':'); at != std::string::npos && at == rest.rfind(':')) {
    port = rest.substr(at + 1);
    rest = rest.substr(0, at);
  }
  spec.address = rest;
  const std::optional<uint16_t> number = port.empty() ? 0 : ParsePort(port);
  if (!number.has_value()) return bad("bad port");
  spec.port = *number;
  if (spec.address.empty()) return bad("no address");
  if (!IsAddress(spec.address)) return bad("bad address");
  if (spec.address[0] == '%') {
    spec.interface = spec.address.substr(1);
    spec.address.clear();
  }
  return spec;
}

}  // namespace tapedeck::dataplane
