#include "services/tapectl/copies/storage_peer.h"

#include "dataplane/status_macros.h"
#include "services/rpc/client/node_client.h"

namespace tapedeck::services::tapectl {

absl::StatusOr<storage_session::Peer> StoragePeer(const Program& program) {
  const client::Channel channel =
      client::MakeChannel(program.storage, program.trace, program.credentials);
  TD_ASSIGN_OR_RETURN(NodeInfo node, client::GetNode(channel, program.call_timeout()));
  return storage_session::Peer{.address = program.storage,
                               .trace = program.trace,
                               .credentials = program.credentials,
                               .rails = std::move(node.rails)};
}

}  // namespace tapedeck::services::tapectl
