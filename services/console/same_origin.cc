#include "services/console/same_origin.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/printable.h"
#include "dataplane/socket_address.h"

namespace tapedeck::services::console {
namespace {

constexpr size_t kShownBytes = 128;

absl::Status Foreign(absl::string_view what, absl::string_view value) {
  return absl::PermissionDeniedError(
      absl::StrCat(what, " ", dataplane::Printable(value, kShownBytes),
                   ": the console answers only its own page and programs that send no origin"));
}

}  // namespace

std::string HostIn(absl::string_view text) {
  const bool v6 = absl::StartsWith(text, "[");
  const size_t end = v6 ? text.find(']') : text.find(':');
  if (v6 && end == absl::string_view::npos) return "";
  const std::string host(v6 ? text.substr(1, end - 1) : text.substr(0, end));
  const absl::string_view port =
      end == absl::string_view::npos ? absl::string_view() : text.substr(v6 ? end + 1 : end);
  const bool good =
      port.empty() || (port[0] == ':' && dataplane::ParsePort(port.substr(1)).has_value());
  if (!good || (v6 && host.find(':') == std::string::npos)) return "";
  return host;
}

absl::Status CheckOrigin(const HttpRequest& request, Scheme scheme) {
  if (scheme == Scheme::kHttp) {
    const std::string host = HostIn(request.host);
    if (!dataplane::ParseIp(host).has_value() && !absl::EqualsIgnoreCase(host, "localhost")) {
      return absl::PermissionDeniedError(
          absl::StrCat("Host ", dataplane::Printable(request.host, kShownBytes),
                       ": without certificates open the console by an IP address or as localhost"));
    }
  }
  if (!request.fetch_site.empty() && request.fetch_site != "same-origin" &&
      request.fetch_site != "none") {
    return Foreign("Sec-Fetch-Site", request.fetch_site);
  }
  if (request.origin.empty()) return absl::OkStatus();
  const char* const own = scheme == Scheme::kHttp ? "http://" : "https://";
  if (absl::EqualsIgnoreCase(request.origin, absl::StrCat(own, request.host))) {
    return absl::OkStatus();
  }
  return Foreign("Origin", request.origin);
}

}  // namespace tapedeck::services::console
