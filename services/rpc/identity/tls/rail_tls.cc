#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "dataplane/transport/rail_spec.h"
#include "services/base/addresses/listen_address.h"
#include "services/rpc/identity/tls/settings.h"

namespace tapedeck::services::identity {

absl::Status CheckRailTls(const Settings& settings, const std::string& listen,
                          const std::vector<std::string>& rails) {
  if (!settings.rail_tls || settings.tls.given()) return absl::OkStatus();
  bool loopback = IsLoopback(listen);
  for (const std::string& text : rails) {
    TD_ASSIGN_OR_RETURN(const dataplane::RailSpec rail, dataplane::ParseRailSpec(text));
    loopback = loopback && !rail.address.empty() && IsLoopback(absl::StrCat(rail.address, ":0"));
  }
  if (loopback) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--rail-tls on requires --tls-cert: without it the keys travel in plain text, beside what "
      "they should protect; without certificates --listen and every --rail must have an address of "
      "the loopback, such as 127.0.0.1");
}

}  // namespace tapedeck::services::identity
