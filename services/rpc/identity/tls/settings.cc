#include "services/rpc/identity/tls/settings.h"

#include "absl/strings/str_cat.h"
#include "services/base/addresses/listen_address.h"

namespace tapedeck::services::identity {

using command_line::Command;
using command_line::Option;

Option AddTlsOptions(const Command& program, TlsFiles& files, Environment environment) {
  const Option cert =
      program.AddOption("--tls-cert", files.cert,
                        "PEM file of this program's certificate; with it connections are TLS 1.3, "
                        "and both ends prove who they are");
  const Option key = program.AddOption("--tls-key", files.key, "PEM file of its private key");
  const Option ca = program.AddOption(
      "--tls-ca", files.ca, "PEM file of the authorities whose certificates are believed");
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
                 "File that says which certificate may do what; without it each may do everything")
      .Needs(cert);
  node.AddFlag("--open-health", settings.open_health,
               "Answer the health service to every certificate, whatever the policy says");
  node.AddFlag("--insecure", settings.insecure,
               "Listen in plain text where other machines reach it: anybody there may do anything");
  node.AddChoice("--rail-tls", settings.rail_tls, {{"on", true}, {"off", false}},
                 "Encrypt what TCP rails carry, by the kernel's TLS; both nodes of a session or "
                 "neither");
}

absl::Status CheckOptions(const Settings& settings) {
  if (!settings.open_health || !settings.tls.cert.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--open-health requires --tls-cert: in plain text everybody gets an answer");
}

absl::Status CheckPlainText(const std::string& listen, const Settings& settings) {
  if (settings.tls.given() || settings.insecure || IsLoopback(listen)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "listen(", listen,
      "): other machines reach this address, where anybody could read and delete recordings; give "
      "--tls-cert FILE --tls-key FILE --tls-ca FILE, listen at 127.0.0.1, or say --insecure"));
}

}  // namespace tapedeck::services::identity
