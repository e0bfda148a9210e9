#include "services/rpc/client/node_client.h"

#include <grpcpp/channel.h>

#include "dataplane/status_macros.h"
#include "services/rpc/client/calls/unary_call.h"
#include "services/rpc/convert/node.h"
#include "tapedeck/v1/node.grpc.pb.h"

namespace tapedeck::services::client {

absl::StatusOr<NodeInfo> GetNode(const Channel& channel, absl::Duration timeout) {
  const auto stub = v1::NodeService::NewStub(channel.channel);
  v1::Node response;
  TD_RETURN_IF_ERROR(RunCall(channel, timeout, [&](grpc::ClientContext* context) {
    return stub->GetNode(context, v1::GetNodeRequest(), &response);
  }));
  return convert::FromProto(response);
}

}  // namespace tapedeck::services::client
