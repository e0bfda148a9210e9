#include "services/rpc/identity/tls/settings.h"

#include "absl/strings/str_cat.h"
#include "services/base/addresses/listen_address.h"

namespace tapedeck::services::identity {

using command_line::Command;
using command_line::Option;

Option AddTlsOptions(const Command& program, TlsFiles& files, Environment environment) {
  const Option cert = program.AddOption("--tls-cert", files.cert,
                                        "PEM file of this program's certificate; connections then "
                                        "use TLS 1.3 and both ends prove their identity");
  const Option key = program.AddOption("--tls-key", files.key, "PEM file of its private key");
  const Option ca =
      program.AddOption("--tls-ca", files.ca, "PEM file of the certificate authorities to trust");
  cert.Needs(key).Needs(ca);
  key.Needs(cert).Needs(ca);
  ca.Needs(cert).Needs(key);
  if (environment == Environment::kIgnored) return cert;
  cert.FromEnvironment("TAPEDECK_TLS_CERT");
  key.FromEnvironment("TAPEDECK_TLS_KEY");
  ca.FromEnvironment("TAPEDECK_TLS_CA");
  return cert;
}

void AddNodeOptions(const Command& node, Settings& settings) {
  const Option cert = AddTlsOptions(node, settings.tls, Environment::kIgnored);
  node.AddOption("--policy", settings.policy,
                 "Policy file: what each certificate may do; default everything")
      .Needs(cert);
  node.AddFlag("--open-health", settings.open_health,
               "Answer health checks of every certificate, whatever the policy says");
  node.AddFlag(
      "--insecure", settings.insecure,
      "Allow plain text on an address that other machines reach: anybody there may do anything");
  node.AddChoice(
      "--rail-tls", settings.rail_tls, {{"on", true}, {"off", false}},
      "Encrypt TCP rails with the kernel's TLS; set it the same on both nodes of a session");
}

absl::Status CheckOptions(const Settings& settings) {
  if (!settings.open_health || !settings.tls.cert.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--open-health requires --tls-cert: in plain text every caller gets an answer");
}

absl::Status CheckPlainText(const std::string& listen, const Settings& settings) {
  if (settings.tls.given() || settings.insecure || IsLoopback(listen)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "listen(", listen,
      "): other machines reach this address, where anyone could read and delete recordings; give "
      "--tls-cert FILE --tls-key FILE --tls-ca FILE, listen at 127.0.0.1, or say --insecure"));
}

}  // namespace tapedeck::services::identity
