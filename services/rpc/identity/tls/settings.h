// What a program is told of identities on its command line, and whether a node may start with it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "services/base/command_line/command_line.h"
#include "services/rpc/identity/tls/tls_files.h"

namespace tapedeck::services::identity {

// Of a node.
struct Settings {
  TlsFiles tls;
  std::string policy;        // file; empty: who has a certificate may do everything
  bool insecure = false;     // plain text on an address that others reach
  bool open_health = false;  // health for every certificate, whatever the policy says
  bool rail_tls = false;     // the kernel encrypts what TCP rails carry
  // No option: whether everybody may call this node for others where there is no policy.
  bool for_others = true;
};

enum class Environment { kIgnored, kRead };  // TAPEDECK_TLS_CERT and so on

// Returns the option of the certificate, without which there is no TLS.
command_line::Option AddTlsOptions(const command_line::Command& program, TlsFiles& files,
                                   Environment environment);
void AddNodeOptions(const command_line::Command& node, Settings& settings);

// Whether they go together. INVALID_ARGUMENT.
absl::Status CheckOptions(const Settings& settings);

// INVALID_ARGUMENT where `listen` is an address that other machines reach, and there are neither
// certificates nor --insecure. Asks the resolver, which may wait.
absl::Status CheckPlainText(const std::string& listen, const Settings& settings);

// INVALID_ARGUMENT where --rail-tls is on, and its keys would go in plain text to another machine.
// `listen` is of the gRPC services, `rails` are as --rail has them. Asks the resolver, which may
// wait.
absl::Status CheckRailTls(const Settings& settings, const std::string& listen,
                          const std::vector<std::string>& rails);

}  // namespace tapedeck::services::identity
