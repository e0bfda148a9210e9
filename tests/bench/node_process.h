// A node of its own for a bench, in a process of its own: a real tapedeck-storage, or a null
// node.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "services/rpc/client/calls/channel.h"
#include "services/rpc/client/catalog_client.h"
#include "services/rpc/identity/tls/tls_files.h"

namespace tapedeck::bench {

enum class NodeProgram { kStorage, kNull };

class NodeProcess {
 public:
  // Starts the program that lies beside this one, with these rails (NAME=KIND:ADDRESS) and
  // further words of its line; a storage node may have these certificates, as has whoever calls
  // it. Blocks until it answers, at most 10 s.
  static absl::StatusOr<std::unique_ptr<NodeProcess>> Start(
      NodeProgram program, const std::vector<std::string>& rails,
      const std::vector<std::string>& more = {}, const services::identity::TlsFiles& tls = {});

  // Ends the process and removes its state.
  ~NodeProcess();

  // Of a storage node: a fresh LUN with one channel, both called like `lun`.
  absl::Status MakeChannel(const services::Lun& lun, uint64_t block_bytes);

  const services::client::Channel& channel() const { return channel_; }
  // A connection of its own.
  services::client::Channel NewChannel() const;
  services::client::CatalogClient& catalog() { return catalog_; }

 private:
  NodeProcess(pid_t pid, std::string state, const std::string& address,
              services::client::Credentials credentials);

  const pid_t pid_;
  const std::string state_;
  const services::client::Credentials credentials_;
  const services::client::Channel channel_;
  services::client::CatalogClient catalog_;
};

}  // namespace tapedeck::bench
