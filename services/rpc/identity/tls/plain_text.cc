#include "services/rpc/identity/tls/plain_text.h"

#include "absl/strings/str_cat.h"
#include "services/base/addresses/listen_address.h"

namespace tapedeck::services::identity {

absl::Status CheckPlainText(const std::string& listen, const Settings& settings) {
  if (settings.tls.given() || settings.insecure || IsLoopback(listen)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "listen(", listen,
      "): other machines reach this address, where anybody could read and delete recordings; give "
      "--tls-cert FILE --tls-key FILE --tls-ca FILE, listen at 127.0.0.1, or say --insecure"));
}

}  // namespace tapedeck::services::identity
